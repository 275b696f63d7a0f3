/** Handle of a process with an informer. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { EmbeddedApiServer } from '../../src/tools/apiserver/testing/index.ts';
import type { ControlGroup } from './control-group.ts';
import type { ChildOptions, ChildState } from './informer-child.ts';
import { TemporaryFolder } from './temporary-folder.ts';
import { until } from './until.ts';

interface Limits {
  /** V8's limit of the old generation. Default: as V8 chooses. */
  readonly heapMiB?: number;
  /** The control group that the process runs in. Default: the parent's group. */
  readonly group?: ControlGroup | undefined;
}

/** Characters of a process's last output to quote when it ends. */
const SAID_MAX = 2000;

export class InformerProcess implements AsyncDisposable {
  readonly folder: TemporaryFolder = new TemporaryFolder();
  readonly child: ChildProcess;
  /** Rejects when the process ends. */
  readonly #ended: Promise<never>;

  private constructor(
    { kubeConfigYaml }: EmbeddedApiServer,
    options: Partial<ChildOptions>,
    { heapMiB, group }: Limits,
  ) {
    const kubeconfig = this.folder.write('kubeconfig', kubeConfigYaml);
    const flags = heapMiB === undefined ? [] : [`--max-old-space-size=${heapMiB}`];
    const entry = fileURLToPath(new URL('./informer-child.js', import.meta.url));
    const args = [...flags, entry, JSON.stringify({ kubeconfig, ...options })];
    const [program, programArgs] = group?.command(process.execPath, args) ?? [process.execPath, args];
    this.child = spawn(program, programArgs, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    let said = '';
    this.child.stderr
      ?.setEncoding('utf8')
      .on('data', (text: string) => (said = (said + text).slice(-SAID_MAX)));
    this.#ended = once(this.child, 'close').then(([code, signal]) => {
      throw new Error(`the process ended: ${String(code ?? signal)}: ${said}`);
    });
    this.#ended.catch(() => undefined);
  }

  /** Starts a process; resolves when the informer is synced. */
  static async start(
    server: EmbeddedApiServer,
    options: Partial<ChildOptions> = {},
    limits: Limits = {},
  ): Promise<InformerProcess> {
    const started = new InformerProcess(server, options, limits);
    await Promise.race([once(started.child, 'message'), started.#ended]);
    return started;
  }

  /**
   * Returns the informer's state, with the cached objects on request.
   *
   * @throws when the process ended
   */
  async state(hasCache: boolean = false): Promise<ChildState> {
    this.child.send(hasCache);
    const [state] = (await Promise.race([once(this.child, 'message'), this.#ended])) as [ChildState];
    return state;
  }

  /** Waits until the cache equals the server's state. */
  async converged(server: EmbeddedApiServer): Promise<ChildState> {
    let state = await this.state(true);
    await until(async () => {
      state = await this.state(true);
      assert.ok(!state.errors.some((code) => code.startsWith('ended')), state.errors.join());
      const expected = Array.from(await server.state('pods'), ([key, version]) => `${key}@${version}`);
      return state.cache.toSorted().join() === expected.toSorted().join();
    });
    return state;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill('SIGKILL');
    await this.#ended.catch(() => undefined);
    await this.folder[Symbol.asyncDispose]();
  }
}
