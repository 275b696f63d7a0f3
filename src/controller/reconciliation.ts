/**
 * A reconciliation in progress, and its context. Most reconciliations read a cache and return, so the signal and the
 * client, which cost more than that, are made when the reconcile function reads them.
 */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { KubeloomError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { LinkedController } from '../shared/fence.ts';
import type { KubeObject } from '../index.ts';
import type { InformerHandle } from '../informer/map/informer-handle.ts';
import type { InformersMap } from '../informer/map/informers-map.ts';
import type { ReconcileContext } from './controller-options.ts';
import type { ObjectClient } from './object-client.ts';
import { OwnWrites } from './own-writes.ts';
import type { ReconcileLog } from './reconcile-log.ts';

/** @internal The common parts of the reconciliations of a controller, while it runs. */
export interface ReconciliationParts {
  readonly cache: InformersMap;
  /** Client that ends with the right to write. */
  readonly client: ObjectClient;
  /** Caches that must have the writes before the key is reconciled again. */
  readonly handles: readonly InformerHandle<KubeObject>[];
  readonly log: ReconcileLog;
  readonly clock: Clock;
  /** undefined: no limit. */
  readonly timeoutMs: number | undefined;
  /** Aborted when the reconciliations must end. */
  readonly work: AbortSignal;
}

/** @internal */
export class Reconciliation implements ReconcileContext {
  // Own members of a context, as the others: a spread copies only own members.
  static readonly #client: PropertyDescriptor = {
    enumerable: true,
    get(this: Reconciliation) {
      return this.#ownClient();
    },
  };

  static readonly #signal: PropertyDescriptor = {
    enumerable: true,
    get(this: Reconciliation) {
      return this.#controller().signal;
    },
  };

  readonly cache: InformersMap;
  declare readonly client: ObjectClient;
  declare readonly signal: AbortSignal;
  readonly reconcileID: string = randomUUID();
  readonly log: Logger;
  readonly #parts: ReconciliationParts;
  readonly #startMs: number;
  readonly #cancelLimit: (() => void) | undefined;
  #isOver = false;
  #linked: LinkedController | undefined;
  #writes: OwnWrites | undefined;

  constructor(key: string, parts: ReconciliationParts) {
    this.cache = parts.cache;
    Object.defineProperty(this, 'client', Reconciliation.#client);
    Object.defineProperty(this, 'signal', Reconciliation.#signal);
    this.log = parts.log.of(key, this.reconcileID);
    this.#parts = parts;
    this.#startMs = parts.log.startMs;
    if (parts.timeoutMs !== undefined)
      this.#cancelLimit = parts.clock.schedule(parts.timeoutMs, () => this.#overdue());
  }

  /**
   * Writes the line of the end.
   *
   * @throws the reason of the signal after the time limit, unless the controller must stop
   */
  succeed(): void {
    const { work, log } = this.#parts;
    const signal = this.#linked?.signal;
    if (signal?.aborted && !work.aborted) throw signal.reason;
    log.succeeded(this, this.#startMs);
  }

  /** Ends the time limit, and the link of the signal. Returns the writes that the cache may not have. */
  end(): OwnWrites | undefined {
    this.#isOver = true;
    this.#cancelLimit?.();
    this.#linked?.[Symbol.dispose]();
    return this.#writes?.isEmpty === false ? this.#writes : undefined;
  }

  #ownClient(): ObjectClient {
    const { client, handles, clock } = this.#parts;
    this.#writes ??= new OwnWrites(client, handles, clock);
    return this.#writes.client;
  }

  #controller(): LinkedController {
    if (this.#linked) return this.#linked;
    this.#linked = new LinkedController(this.#parts.work);
    // The parent outlives the reconciliation, and would keep the listener.
    if (this.#isOver) this.#linked[Symbol.dispose]();
    return this.#linked;
  }

  /** Aborts the reconciliation, which has failed when it ends, whether or not the function reads the signal. */
  #overdue(): void {
    const message = `the reconciliation has not ended within ${this.#parts.timeoutMs} ms (timeoutMs)`;
    this.#controller().abort(new KubeloomError('ERR_KUBELOOM_STILL_RUNNING', message));
  }
}
