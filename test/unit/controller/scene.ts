/** A manager on an embedded apiserver, and a reconcile function that records its calls. */
import assert from 'node:assert/strict';
import { Manager } from '../../../src/controller/index.ts';
import type { ControllerOptions, ManagerOptions, ReconcileContext } from '../../../src/controller/index.ts';
import { resources } from '../../../src/index.ts';
import type { ResourceOf } from '../../../src/index.ts';
import type { ReconcileResult } from '../../../src/workqueue/index.ts';
import { Scene, object, soon } from '../informer/factory/scene.ts';

export { Scene, object, rejection, soon } from '../informer/factory/scene.ts';
export { Gate, turns } from '../informer/scene.ts';

const { deployments } = resources.apps.v1;

export interface RunningManager extends AsyncDisposable {
  readonly scene: Scene;
  readonly manager: Manager;
  readonly stop: AbortController;
  /** The promise of `run`. */
  run(): Promise<void>;
  /** Stops the manager, and waits for its end. */
  end(): Promise<void>;
  /** Declares a controller, of deployments unless a kind is given. */
  reconciles(
    options?: ControllerOptions<unknown> & { readonly kind?: ResourceOf<unknown> },
    work?: Work,
  ): Reconciliations;
}

/** Returns a manager of a server with these deployments; both end with it. */
export async function managerWith(
  names: readonly string[],
  options: ManagerOptions = {},
): Promise<RunningManager> {
  const scene = await Scene.start();
  await scene.create('deployments.apps', ...names.map((name) => object(name)));
  const running = managerOf(scene, options);
  const end = async (): Promise<void> => {
    await running[Symbol.asyncDispose]();
    await scene[Symbol.asyncDispose]();
  };
  return { ...running, [Symbol.asyncDispose]: end };
}

/** Returns a manager of the scene's server, which stops at the end. */
export function managerOf(scene: Scene, options: ManagerOptions = {}): RunningManager {
  const manager = new Manager(scene.kubeConfig, { ...options, cache: scene.options(options.cache ?? {}) });
  const stop = new AbortController();
  let running: Promise<void> | undefined;
  const run = (): Promise<void> => (running ??= manager.run({ signal: stop.signal }));
  return {
    scene,
    manager,
    stop,
    run,
    end: () => (stop.abort(), run()),
    reconciles({ kind = deployments, ...controller } = {}, work) {
      const done = new Reconciliations(work);
      manager.controllerFor(kind, controller).reconcile(done.reconcile);
      return done;
    },
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
