/**
 * Controllers that share caches and a client, from their declaration to their end: the controllers of a manager, or of
 * a partition.
 */
import { KubeloomError } from '../base/errors.ts';
import { checkOptions } from '../base/option-checks.ts';
import { LinkedController } from '../shared/fence.ts';
import type { KindLike } from '../kube/rest-mapper.ts';
import type { InformerHandle } from '../informer/map/informer-handle.ts';
import type { KubeObject, ResourceOf } from '../index.ts';
import { ManagedController } from './managed-controller.ts';
import type { ControllerParts } from './managed-controller.ts';
import { CONTROLLER_CHECKS } from './controller-options.ts';
import type { ControllerBuilder, ControllerOptions } from './controller-options.ts';

const CACHE_SYNC_TIMEOUT_MS = 120_000;

/** @internal */
export class ControllerSet implements AsyncDisposable {
  readonly #parts: ControllerParts;
  readonly #suffix: string;
  readonly #controllers: Map<string, ManagedController> = new Map();
  #hasStarted = false;

  /** @param suffix of the names of the controllers in metrics and messages */
  constructor(parts: Omit<ControllerParts, 'draining'>, suffix = '') {
    this.#parts = { ...parts, draining: new Set() };
    this.#suffix = suffix;
  }

  get hasStarted(): boolean {
    return this.#hasStarted;
  }

  get controllers(): readonly ManagedController[] {
    return [...this.#controllers.values()];
  }

  /** The filled caches of all kinds. */
  get handles(): readonly InformerHandle<KubeObject>[] {
    return this.controllers.flatMap(({ handles }) => handles);
  }

  /** Declares a controller, as `Manager.controllerFor`. */
  controllerFor<T = KubeObject>(
    kind: ResourceOf<T> | KindLike,
    options: ControllerOptions<T> = {},
  ): ControllerBuilder {
    checkOptions('options of a controller', options, CONTROLLER_CHECKS);
    if (this.#hasStarted) {
      const message = 'the controllers have been started already: declare all of them before';
      throw new KubeloomError('ERR_KUBELOOM_STARTED', message);
    }
    const name = `${options.name ?? nameOf(kind)}${this.#suffix}`;
    if (this.#controllers.has(name)) {
      const message = `there is a controller ${name} already: give each controller a unique name`;
      throw new KubeloomError('ERR_KUBELOOM_OPTION', message);
    }
    const controller = new ManagedController(
      kind,
      name,
      options as ControllerOptions<KubeObject>,
      this.#parts,
    );
    this.#controllers.set(name, controller);
    return controller;
  }

  /**
   * Ends the declarations. @throws ERR_KUBELOOM_OPTION without a controller, or for a controller without `reconcile`
   */
  start(): void {
    if (this.#controllers.size === 0) {
      const message = 'there is no controller: declare a controller with controllerFor()';
      throw new KubeloomError('ERR_KUBELOOM_OPTION', message);
    }
    for (const controller of this.controllers) controller.start();
    this.#hasStarted = true;
  }

  /**
   * Fills the caches of all controllers. Also resolves when the signal is aborted.
   *
   * @param failed called when an informer ends by itself
   * @throws NotSyncedError (ERR_KUBELOOM_NOT_SYNCED), naming the informers, after the time limit
   */
  async fill(
    signal: AbortSignal,
    failed: (error: unknown) => void,
    cacheSyncTimeoutMs: number = CACHE_SYNC_TIMEOUT_MS,
  ): Promise<void> {
    using over = new LinkedController(signal);
    const cancel = this.#parts.clock.schedule(cacheSyncTimeoutMs, () => {
      const message = `the caches were not filled within ${cacheSyncTimeoutMs} ms (cacheSyncTimeoutMs)`;
      over.abort(new KubeloomError('ERR_KUBELOOM_NOT_SYNCED', message));
    });
    try {
      await Promise.all(this.controllers.map((each) => each.fill(over.signal, failed)));
    } catch (error) {
      // Caches that are not filled yet are no longer needed.
      over.abort(error);
      if (!signal.aborted) throw error;
    } finally {
      cancel();
    }
  }

  /** Releases the caches of all controllers. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.handles.map((handle) => handle.release()));
  }
}

function nameOf(kind: KindLike): string {
  if (typeof kind === 'string') return kind;
  return 'resource' in kind ? kind.resource : kind.kind.toLowerCase();
}
