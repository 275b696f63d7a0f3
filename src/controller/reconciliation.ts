/**
 * A reconciliation in progress, and its context. Most reconciliations read a cache and return, so the client and the
 * signal, which cost more than that, are made when the reconcile function reads them.
 *
 * Every line about a reconciliation carries the id of the reconciliation, as in controller-runtime: lines of the manager,
 * and lines that the reconcile function writes to the log of the context.
 */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { KubeloomError } from '../base/errors.ts';
import { loggerWith } from '../base/logger.ts';
import type { Logger } from '../base/logger.ts';
import { LinkedController } from '../shared/fence.ts';
import type { KubeObject } from '../index.ts';
import type { InformerHandle } from '../informer/map/informer-handle.ts';
import type { InformersMap } from '../informer/map/informers-map.ts';
import type { ReconcileResult } from '../workqueue/reconcile-result.ts';
import type { Reconcile, ReconcileContext } from './controller-options.ts';
import type { ObjectClient } from './object-client.ts';
import { OwnWrites } from './own-writes.ts';

/** @internal The reconciliations of a controller have these in common, while it runs. */
export interface ReconciliationParts {
  readonly cache: InformersMap;
  readonly client: ObjectClient;
  readonly clock: Clock;
  /** undefined: the manager writes no line, and the log of a context is the console. */
  readonly log?: Logger | undefined;
  /** Name of the controller. */
  readonly controller: string;
  /** Caches that must have the writes before the next reconciliation of the key. */
  readonly handles: readonly InformerHandle<KubeObject>[];
  readonly timeoutMs: number | undefined;
  /** Aborted when the controller takes no further keys. */
  readonly stop: AbortSignal;
  /** Aborted when the reconciliations must end. */
  readonly work: AbortSignal;
}

/** @internal */
export class Reconciliation implements ReconcileContext {
  static readonly #client: PropertyDescriptor = {
    enumerable: true,
    get(this: Reconciliation) {
      const { client, handles, clock } = this.#parts;
      this.#writes ??= new OwnWrites(client, handles, clock);
      return this.#writes.client;
    },
  };

  static readonly #signal: PropertyDescriptor = {
    enumerable: true,
    get(this: Reconciliation) {
      return this.#linked().signal;
    },
  };

  readonly cache: InformersMap;
  declare readonly client: ObjectClient;
  declare readonly signal: AbortSignal;
  readonly reconcileID: string = randomUUID();
  readonly log: Logger;
  readonly #key: string;
  readonly #parts: ReconciliationParts;
  readonly #startMs: number;
  readonly #cancelLimit: (() => void) | undefined;
  #controller: LinkedController | undefined;
  #writes: OwnWrites | undefined;
  #isOver = false;

  constructor(key: string, parts: ReconciliationParts) {
    this.cache = parts.cache;
    // Own members like the others: a spread copies only own members.
    Object.defineProperty(this, 'client', Reconciliation.#client);
    Object.defineProperty(this, 'signal', Reconciliation.#signal);
    const { clock, timeoutMs, controller, log = console } = parts;
    this.log = loggerWith(log, { controller, key, reconcileID: this.reconcileID });
    this.#key = key;
    this.#parts = parts;
    this.#startMs = clock.now();
    if (timeoutMs === undefined) return;
    this.#cancelLimit = clock.schedule(timeoutMs, () => {
      const message = `the reconciliation has not ended within ${timeoutMs} ms (timeoutMs)`;
      this.#linked().abort(new KubeloomError('ERR_KUBELOOM_STILL_RUNNING', message));
    });
  }

  /** Calls the function. @throws the error of the function; the reason of the signal after the time limit */
  async run(reconcile: Reconcile): Promise<ReconcileResult> {
    const { work, log, clock } = this.#parts;
    try {
      const result = await reconcile(this.#key, this);
      const signal = this.#controller?.signal;
      if (signal?.aborted && !work.aborted) throw signal.reason;
      if (log) this.log.debug({ durationMs: Math.round(clock.now() - this.#startMs) }, 'reconciled');
      return result;
    } finally {
      this.#isOver = true;
      this.#cancelLimit?.();
      // The parent outlives the reconciliation, and would keep the signal.
      this.#controller?.[Symbol.dispose]();
    }
  }

  /** Returns a promise that resolves when the caches have the writes; undefined without a write. */
  writesArrived(): Promise<void> | undefined {
    return this.#writes?.isEmpty === false ? this.#writes.arrived(this.#parts.stop) : undefined;
  }

  #linked(): LinkedController {
    const linked = (this.#controller ??= new LinkedController(this.#parts.work));
    if (this.#isOver) linked[Symbol.dispose]();
    return linked;
  }
}
