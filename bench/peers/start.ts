/**
 * The start of a program with an informer: `node start.js CLIENT [MODULE] TASK`. The client is imported only after the
 * measurement begins; times are since the start of the process. kubeloom is the package as Node loads it, dist/lib.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { KubernetesListObject, V1Pod } from '@kubernetes/client-node';
import type { Task } from '../task.ts';
import { connectionTo, kubeConfigText, pathOf, resourceRef } from './connection.ts';
import { packageVersion, runProgram } from './program.ts';
import type { Result } from './program.ts';

type ClientNode = typeof import('@kubernetes/client-node');

const [, , client = '', moduleName = ''] = process.argv;

/** A start in progress. */
interface Start {
  readonly task: Task;
  /** The file of the kubeconfig. */
  readonly file: string;
  /** Marks the end of the import. */
  readonly imported: () => void;
  readonly added: (keyLength: number) => void;
  readonly failed: (error: unknown) => void;
}

async function startKubeloom({ task, file, imported, added, failed }: Start): Promise<void> {
  const { SharedIndexInformer, loadKubeConfig } = await import('kubeloom');
  imported();
  const source = task.connection === true ? connectionTo(task) : loadKubeConfig({ path: file });
  const informer = new SharedIndexInformer(source, resourceRef(task.resource));
  informer.addEventHandler({ onAdd: ({ key }) => added(key.length) });
  informer.run().catch(failed);
}

async function startClientNode({ task, file, imported, added, failed }: Start): Promise<void> {
  const { CoreV1Api, KubeConfig, makeInformer } = (await import(moduleName)) as ClientNode;
  imported();
  const config = new KubeConfig();
  config.loadFromFile(file);
  const api = config.makeApiClient(CoreV1Api);
  const list = (): Promise<KubernetesListObject<V1Pod>> => api.listPodForAllNamespaces();
  const informer = makeInformer(config, pathOf(task.resource), list);
  informer.on('add', ({ metadata }) => added(`${metadata?.namespace}/${metadata?.name}`.length));
  informer.on('error', failed);
  informer.start().catch(failed);
}

async function run(task: Task): Promise<Result> {
  const folder = mkdtempSync(path.join(tmpdir(), 'kubeloom-bench-'));
  const file = path.join(folder, 'kubeconfig');
  writeFileSync(file, kubeConfigText(task));
  try {
    return await measured(task, file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Resolves when the handler receives the last object. */
function measured(task: Task, file: string): Promise<Result> {
  return new Promise((resolve, reject) => {
    const startedAtMs = performance.now();
    let importMs = 0;
    let objects = 0;
    let checksum = 0;
    const added = (keyLength: number): void => {
      checksum += keyLength;
      if (++objects !== task.objects) return;
      const syncedMs = performance.now();
      const { user, system } = process.cpuUsage();
      resolve({
        checksum,
        rows: [
          { case: 'import', unit: 'ms', value: importMs },
          { case: 'synced', unit: 'ms', value: syncedMs },
          { case: 'cpu', unit: 'ms', value: (user + system) / 1000 },
          { case: 'rss', unit: 'bytes', value: process.memoryUsage.rss() },
        ],
      });
    };
    const imported = (): void => void (importMs = performance.now() - startedAtMs);
    const start = client === 'kubeloom' ? startKubeloom : startClientNode;
    start({ task, file, imported, added, failed: reject }).catch(reject);
  });
}

const entry = client === 'kubeloom' ? import.meta.url : import.meta.resolve(moduleName);
await runProgram(client, packageVersion(entry), run);
