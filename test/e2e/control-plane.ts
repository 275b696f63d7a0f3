// The real control plane of the end-to-end tests. Builds the Go program in control-plane/ and runs its two
// parts, etcd and kube-apiserver, on this machine's loopback until `stop()`. The parts end when their
// standard input is closed, so a test run that dies leaves nothing behind.

import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { after, before } from 'node:test';
import { InformerThreads } from '../../src/index.ts';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { openSync, closeSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { buildGoProgram, sourceOf } from './go-program.ts';

export interface ControlPlaneOptions {
  /** Flags of kube-apiserver that are added to (and win over) those of the harness. */
  readonly apiServerFlags?: readonly string[];
}

export interface ControlPlane extends AsyncDisposable {
  readonly kubeconfigPath: string;
  /** https://127.0.0.1:PORT, the same after a restart. */
  readonly server: string;
  /** Bearer token of a user with all permissions. */
  readonly token: string;
  /** Bearer token of a user without permissions: every request is a 403. */
  readonly unprivilegedToken: string;
  /** The certificate authority as kubeconfig has it: PEM in base64. */
  readonly caData: string;
  /**
   * Ends the apiserver and starts it again: same port, same data. Resolves when it is ready. Its new watch
   * cache begins at the newest revision of all of etcd. So a watch resumes only if nothing was written after
   * its version, other resources and the apiserver's own lease included: often after a SIGKILL, never seen
   * after SIGTERM (a 410 instead), always with `--watch-cache=false`.
   */
  restartApiServer(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  /**
   * Makes every resourceVersion that a client has seen too old, and returns the oldest one that is not. A
   * watch from one gets a 410 as an ERROR event; a continue token or an exact list gets a 410 as HTTP status.
   * The apiserver is down (SIGTERM) while etcd compacts: a running one would serve old versions from its
   * watch cache for minutes (without one, `--watch-cache=false`, the restart changes nothing).
   */
  compact(): Promise<number>;
  /** The apiserver's process, another one after a restart. */
  apiServerPid(): number;
  stop(): Promise<void>;
}

/** A control plane with what its tests need. */
export interface Cluster {
  readonly controlPlane: ControlPlane;
  readonly kubeConfig: KubeConfig;
  readonly api: CoreV1Api;
  readonly threads: InformerThreads;
  /** Informers and programs that end before the cluster. */
  readonly users: AsyncDisposable[];
}

/** Registers the start and the end of a cluster for the tests of a file or of a suite; inside them it is available. */
export function clusterOfTests(options: ControlPlaneOptions = {}): () => Cluster {
  let cluster: Cluster | undefined;
  before(async () => {
    const controlPlane = await startControlPlane(options);
    const kubeConfig = new KubeConfig();
    kubeConfig.loadFromFile(controlPlane.kubeconfigPath);
    const api = kubeConfig.makeApiClient(CoreV1Api);
    cluster = {
      controlPlane,
      kubeConfig,
      api,
      threads: new InformerThreads({ indexerThreads: 2 }),
      users: [],
    };
  });
  after(async () => {
    for (const user of cluster?.users ?? []) await user[Symbol.asyncDispose]();
    await cluster?.threads.close();
    await cluster?.controlPlane.stop();
  });
  return () => {
    if (!cluster) throw new Error('no test has begun');
    return cluster;
  };
}

export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const binary = await buildControlPlane();
  // Short, because etcd's unix socket is in it and a socket's path may have 104 characters.
  const dataDir = await mkdtemp(join(tmpdir(), 'kubeloom-'));
  const parts: Part[] = [];
  const kubeconfigPath = join(dataDir, 'kubeconfig');

  const start = (name: string, args: readonly string[]): Part => {
    const part = new Part(binary, [name, '--data-dir', dataDir, ...args], join(dataDir, `${name}.log`));
    parts.push(part);
    return part;
  };
  const stop = async (): Promise<void> => {
    // The newest first: an apiserver without its etcd takes long to end.
    for (const part of parts.reverse()) await part.end('SIGTERM');
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    const etcd = start('etcd', []);
    const { url } = await etcd.answer<{ url: string }>();
    const startApiServer = async (port: number): Promise<[Part, ApiServerAnswer]> => {
      const flags = ['--etcd-url', url, '--port', String(port), '--kubeconfig-out', kubeconfigPath];
      const part = start('apiserver', [...flags, '--', ...(options.apiServerFlags ?? [])]);
      return [part, await part.answer<ApiServerAnswer>()];
    };
    let [apiServer, { port, ...facts }] = await startApiServer(0);
    return {
      ...facts,
      kubeconfigPath,
      apiServerPid: () => apiServer.pid,
      stop,
      async restartApiServer(signal) {
        await apiServer.end(signal);
        [apiServer] = await startApiServer(port);
      },
      async compact() {
        await apiServer.end('SIGTERM');
        etcd.send('compact');
        const { compacted } = await etcd.answer<{ compacted: number }>();
        [apiServer] = await startApiServer(port);
        return compacted;
      },
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface ApiServerAnswer {
  readonly server: string;
  readonly port: number;
  readonly caData: string;
  readonly token: string;
  readonly unprivilegedToken: string;
}

/** One running part: answers are lines of JSON on its stdout, everything else is in its log file. */
class Part {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;
  readonly #ended: Promise<string>;
  readonly #logPath: string;
  readonly #name: string;

  constructor(binary: string, args: readonly string[], logPath: string) {
    const log = openSync(logPath, 'a');
    // A file, not a pipe: a test may block this thread, and must not block the part with it.
    const child = spawn(binary, args, { stdio: ['pipe', 'pipe', log] });
    this.#child = child as ChildProcessByStdio<Writable, Readable, null>;
    closeSync(log);
    this.#name = args[0] ?? '';
    this.#logPath = logPath;
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
    this.#ended = new Promise((resolve) => {
      this.#child.once('error', (error) => resolve(error.message));
      this.#child.once('close', (code, signal) => resolve(signal ?? `exit code ${code}`));
    });
    this.#child.stdin.on('error', () => {}); // The process has ended; `answer` reports it.
  }

  get pid(): number {
    return this.#child.pid ?? Number.NaN;
  }

  send(command: string): void {
    this.#child.stdin.write(`${command}\n`);
  }

  async answer<T>(): Promise<T> {
    const line = await this.#lines.next();
    if (!line.done) return JSON.parse(line.value) as T;
    const log = (await readFile(this.#logPath, 'utf8')).split('\n').slice(-40).join('\n');
    const message = `${this.#name} ended (${await this.#ended}); its log:\n${log}`;
    throw Object.assign(new Error(message), { code: 'ERR_KUBELOOM_E2E_ENDED' });
  }

  /** Closing stdin does the same as SIGTERM, and the part limits how long its end takes. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    if (signal === 'SIGKILL') this.#child.kill(signal);
    else this.#child.stdin.end();
    await this.#ended;
  }
}

/**
 * Compiles the Go program. The first time takes minutes, on both cores.
 * @returns the program's path
 */
export async function buildControlPlane(): Promise<string> {
  // The version is the one that upstream's own build would stamp.
  const manifest = await readFile(join(sourceOf('control-plane'), 'go.mod'), 'utf8');
  const version = /k8s\.io\/kubernetes (v\S+)/.exec(manifest)?.[1];
  return buildGoProgram('control-plane', [`-X k8s.io/component-base/version.gitVersion=${version}`]);
}
