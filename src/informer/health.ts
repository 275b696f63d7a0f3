/**
 * Health of an informer. It calls the step function, keeps a timer for the moment when the cache becomes stale, and
 * notifies listeners of `stale` and `recovered` after the first sync. It reads the time of the last merge on demand;
 * only a stale cache registers a callback for the next merge.
 */
import type { Clock } from '../base/clock.ts';
import type { KubeloomError } from '../base/errors.ts';
import type { HandlerBacklog } from '../replica/deliver/handler.ts';
import type { ReflectorPhase } from '../shared/protocol.ts';
import { NOT_STARTED, staleAtMs, stepHealth } from './health-step.ts';
import type { Connection, HealthInput, HealthState } from './health-step.ts';

/** Times are values of `Date.now()`, in ms. */
export interface InformerHealth {
  /**
   * `syncing`: the first list is not in the cache yet. `connected`: a watch is open. `disconnected`: no watch is open,
   * for a moment between two watches or because the server is unreachable.
   */
  readonly state: Connection['kind'];
  /** Time at which `state` began; undefined before start. */
  readonly sinceMs: number | undefined;
  /** Current activity of the reflector. */
  readonly phase: ReflectorPhase;
  /**
   * True if the cache may be outdated: for longer than `watch.staleAfterMs` no event, bookmark, opened watch or list
   * showed that it follows the server. Always false before the first sync.
   */
  readonly isStale: boolean;
  /** Time at which the cache became stale; undefined while `isStale` is false. */
  readonly staleSinceMs: number | undefined;
  /**
   * Upper bound of the age of the cache: the time since the last sign that it follows the server. Up to a minute is
   * normal for a collection without changes. Undefined before the first sign.
   */
  readonly lagMs: number | undefined;
  /** Time at which the last event, bookmark or item of a list was merged into the cache. */
  readonly lastEventAtMs: number | undefined;
  /** Error that ended the informer, or else the last error of LIST, WATCH or decoding, also after a recovery. */
  readonly lastError: KubeloomError | undefined;
  /** Time of the last error of LIST, WATCH or decoding; undefined before the first. */
  readonly lastErrorAtMs: number | undefined;
  /** resourceVersion of the cache; '' before the first list. */
  readonly resourceVersion: string;
  /** Backlog of each handler, in the order of registration. */
  readonly handlers: readonly HandlerHealth[];
  /** Records that were received but not merged yet, of all informers on the same threads. */
  readonly unmerged: number;
  /** Notifications that coalescing merged into others; 0 unless coalescing was reported. */
  readonly coalesced: number;
}

/** Backlog and state of a handler. */
export interface HandlerHealth extends HandlerBacklog {
  /** Name of the registration; several handlers may have equal names. */
  readonly name: string;
}

/** A change of an informer's health. */
export interface HealthChange {
  /** `stale`: the cache may be outdated from now on. `recovered`: it follows the server again. */
  readonly type: 'stale' | 'recovered';
  /** Health right after the change. */
  readonly health: InformerHealth;
}

/** Receives the changes of an informer's health. */
export type HealthListener = (change: HealthChange) => unknown;

/** @internal Values of `InformerHealth` that other parts of the informer keep. */
export type HealthSource = Pick<
  InformerHealth,
  'phase' | 'lastError' | 'resourceVersion' | 'handlers' | 'unmerged' | 'coalesced'
>;

/** @internal The merges of the informer's records. */
export interface Merges {
  /** Time of the last merge, by the same clock. */
  readonly mergedMs: number | undefined;
  /** Calls a function once, after the next merge. */
  onNextMerge(callback: () => void): void;
}

/** @internal */
export interface HealthOptions {
  readonly clock: Clock;
  readonly staleAfterMs: number;
  readonly source: () => HealthSource;
  readonly merges: Merges;
  /** Called when a listener throws or rejects. */
  readonly onListenerError: (cause: unknown) => void;
  /** Default `Date.now`. */
  readonly wallNow?: () => number;
}

/** Default of `watch.staleAfterMs`: twice a server's bookmark interval. */
export const STALE_AFTER_MS = 120_000;

/** @internal */
export class Health {
  readonly #options: HealthOptions;
  readonly #listeners: Set<HealthListener> = new Set();
  #state: HealthState = NOT_STARTED;
  /** Time of the last merge that `#state` includes. */
  #appliedMergeMs: number | undefined;
  #cancelTimer: (() => void) | undefined;

  constructor(options: HealthOptions) {
    this.#options = options;
  }

  apply(input: HealthInput): void {
    const { clock, staleAfterMs } = this.#options;
    const before = this.#state;
    const nowMs = clock.now();
    this.#applyMerge();
    this.#state = stepHealth(this.#state, input, nowMs, staleAfterMs);
    this.#schedule(nowMs);
    const wasStale = before.staleSinceMs !== undefined;
    const isStale = this.#state.staleSinceMs !== undefined;
    if (isStale) this.#options.merges.onNextMerge(this.#tick);
    if (wasStale === isStale || this.#state.connection.kind === 'stopped') return;
    this.#notify(isStale ? 'stale' : 'recovered');
  }

  /** Adds a listener and returns a function that removes it. */
  listen(listener: HealthListener): () => void {
    // A wrapper, so that the same function can be added twice.
    const own: HealthListener = (change) => listener(change);
    this.#listeners.add(own);
    return () => {
      this.#listeners.delete(own);
    };
  }

  /** Present health. An overdue change notifies the listeners first. */
  get snapshot(): InformerHealth {
    this.apply({ type: 'tick' });
    const { clock, source, wallNow = Date.now } = this.#options;
    const { connection, freshMs, lastEventMs, lastErrorMs, staleSinceMs } = this.#state;
    const nowMs = clock.now();
    const offsetMs = wallNow() - nowMs;
    const wall = (atMs: number | undefined): number | undefined =>
      atMs === undefined ? undefined : Math.round(atMs + offsetMs);
    return {
      state: connection.kind,
      sinceMs: connection.kind === 'not-started' ? undefined : wall(connection.sinceMs),
      isStale: staleSinceMs !== undefined,
      staleSinceMs: wall(staleSinceMs),
      lagMs: freshMs === undefined ? undefined : nowMs - freshMs,
      lastEventAtMs: wall(lastEventMs),
      lastErrorAtMs: wall(lastErrorMs),
      ...source(),
    };
  }

  readonly #tick = (): void => this.apply({ type: 'tick' });

  /** Applies the last merge at the time of the merge, before any later input. */
  #applyMerge(): void {
    const { merges, staleAfterMs } = this.#options;
    const { mergedMs } = merges;
    if (mergedMs === undefined || mergedMs === this.#appliedMergeMs) return;
    this.#appliedMergeMs = mergedMs;
    this.#state = stepHealth(this.#state, { type: 'merged' }, mergedMs, staleAfterMs);
  }

  /** Keeps a single timer. It may fire too early, because merges delay staleness without rescheduling the timer. */
  #schedule(nowMs: number): void {
    const atMs = staleAtMs(this.#state, this.#options.staleAfterMs);
    if (atMs === undefined) {
      this.#cancelTimer?.();
      this.#cancelTimer = undefined;
      return;
    }
    this.#cancelTimer ??= this.#options.clock.schedule(Math.max(1, atMs - nowMs), () => {
      this.#cancelTimer = undefined;
      this.#tick();
    });
  }

  #notify(type: HealthChange['type']): void {
    const change = { type, health: this.snapshot };
    for (const listener of this.#listeners) void this.#call(listener, change);
  }

  async #call(listener: HealthListener, change: HealthChange): Promise<void> {
    try {
      await listener(change);
    } catch (cause) {
      this.#options.onListenerError(cause);
    }
  }
}
