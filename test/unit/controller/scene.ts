/** A manager on an embedded apiserver, and a reconcile function that records its calls. */
import assert from 'node:assert/strict';
import { Manager } from '../../../src/controller/index.ts';
import type { ManagerOptions, ReconcileContext } from '../../../src/controller/index.ts';
import type { ReconcileResult } from '../../../src/workqueue/index.ts';
import { Scene, soon } from '../informer/factory/scene.ts';

export { Scene, object, rejection, soon } from '../informer/factory/scene.ts';
export { Gate, turns } from '../informer/scene.ts';

export interface RunningManager extends AsyncDisposable {
  readonly manager: Manager;
  readonly stop: AbortController;
  /** The promise of `run`. */
  run(): Promise<void>;
}

/** Returns a manager of the scene's server, which stops at the end. */
export function managerOf(scene: Scene, options: ManagerOptions = {}): RunningManager {
  const manager = new Manager(scene.kubeConfig, { ...options, cache: scene.options(options.cache ?? {}) });
  const stop = new AbortController();
  let running: Promise<void> | undefined;
  return {
    manager,
    stop,
    run: () => (running ??= manager.run({ signal: stop.signal })),
    async [Symbol.asyncDispose](): Promise<void> {
      stop.abort();
      await running?.catch(() => undefined);
    },
  };
}

type Work = (key: string, context: ReconcileContext) => Promise<ReconcileResult> | ReconcileResult;

/** Records the keys, in the order of the calls. */
export class Reconciliations {
  readonly keys: string[] = [];
  readonly #work: Work;
  readonly #waiters: { readonly count: number; readonly resolve: () => void }[] = [];

  constructor(work: Work = () => undefined) {
    this.#work = work;
  }

  readonly reconcile = (key: string, context: ReconcileContext): ReturnType<Work> => {
    this.keys.push(key);
    for (const { count, resolve } of this.#waiters) if (this.keys.length >= count) resolve();
    return this.#work(key, context);
  };

  /** Resolves when there were so many calls. */
  async count(count: number): Promise<void> {
    if (this.keys.length >= count) return;
    const signal = soon();
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error(`only ${this.keys.join(', ')}`)));
      this.#waiters.push({ count, resolve });
    });
    assert.ok(this.keys.length >= count);
  }
}
