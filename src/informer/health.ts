/**
 * Asks and tells how an informer is: feeds the step function, keeps one timer for the moment at which silence
 * becomes staleness, and reports the two changes that matter after the first sync. Costs one number for each
 * merged batch.
 */
import type { Clock } from '../clock.ts';
import type { KubeloomError } from '../errors.ts';
import type { HandlerBacklog } from '../processor/handler.ts';
import type { ReflectorPhase } from '../threads/protocol.ts';
import { NOT_STARTED, staleAtMs, stepHealth } from './health-step.ts';
import type { Connection, HealthInput, HealthState } from './health-step.ts';

/** Times are those of `Date.now()`, in ms. */
export interface InformerHealth {
  /**
   * `connected`: a watch is open. `disconnected`: none is, for a moment between two of them, or because the
   * server cannot be reached. Before the first list is in the cache: `syncing`.
   */
  readonly state: Connection['kind'];
  /** When that began; undefined before start. */
  readonly sinceMs: number | undefined;
  readonly phase: ReflectorPhase;
  /**
   * The cache cannot be relied on to be new: for longer than `staleAfterMs` nothing showed that it follows the
   * server, no event, no bookmark, no opened watch, no list. Never before the first sync.
   */
  readonly isStale: boolean;
  readonly staleSinceMs: number | undefined;
  /**
   * How old the cache is at most: the time since the last sign that it follows the server. Up to a minute is
   * normal for a quiet collection. Undefined before the first sign.
   */
  readonly lagMs: number | undefined;
  /** When the last event, bookmark or item of a list was merged into the cache. */
  readonly lastEventAtMs: number | undefined;
  readonly lastError: KubeloomError | undefined;
  readonly lastErrorAtMs: number | undefined;
  /** The version that the cache has; '' before the first list. */
  readonly resourceVersion: string;
  /** What each handler has not been told yet, by its name in the order of registration. */
  readonly handlers: readonly HandlerHealth[];
  /** Records of all informers of the same threads that were received and are not in their caches yet. */
  readonly unmerged: number;
  /** Notifications that became part of others because handlers were too far behind; 0 unless that was reported. */
  readonly coalesced: number;
}

export interface HandlerHealth extends HandlerBacklog {
  readonly name: string;
}

export interface HealthChange {
  readonly type: 'stale' | 'recovered';
  readonly health: InformerHealth;
}

export type HealthListener = (change: HealthChange) => unknown;

/** What health does not keep itself. */
export interface HealthSource {
  readonly phase: ReflectorPhase;
  readonly lastError: KubeloomError | undefined;
  readonly resourceVersion: string;
  readonly handlers: readonly HandlerHealth[];
  readonly unmerged: number;
  readonly coalesced: number;
}

export interface HealthOptions {
  readonly clock: Clock;
  readonly staleAfterMs: number;
  readonly source: () => HealthSource;
  /** A listener threw, or its promise was rejected. */
  readonly onListenerError: (cause: unknown) => void;
  /** Default `Date.now`. */
  readonly wallNow?: () => number;
}

/** Twice what a server lets pass between two bookmarks. */
export const STALE_AFTER_MS = 120_000;

export class Health {
  readonly #options: HealthOptions;
  readonly #listeners: Set<HealthListener> = new Set();
  #state: HealthState = NOT_STARTED;
  /** A merge that the state has not been told of. */
  #mergedMs: number | undefined;
  #cancelTimer: (() => void) | undefined;

  constructor(options: HealthOptions) {
    this.#options = options;
  }

  /** Something was merged: a number is noted, unless it ends staleness. */
  merged(): void {
    this.#mergedMs = this.#options.clock.now();
    if (this.#state.staleSinceMs !== undefined) this.tell({ type: 'tick' });
  }

  tell(input: HealthInput): void {
    const { clock, staleAfterMs } = this.#options;
    const before = this.#state;
    const nowMs = clock.now();
    this.#foldMerged();
    this.#state = stepHealth(this.#state, input, nowMs, staleAfterMs);
    this.#schedule(nowMs);
    const wasStale = before.staleSinceMs !== undefined;
    const isStale = this.#state.staleSinceMs !== undefined;
    if (wasStale === isStale || this.#state.connection.kind === 'stopped') return;
    this.#notify(isStale ? 'stale' : 'recovered');
  }

  /** The returned function takes the listener away. */
  listen(listener: HealthListener): () => void {
    // Of its own, so that the same function can listen twice.
    const own: HealthListener = (change) => listener(change);
    this.#listeners.add(own);
    return () => {
      this.#listeners.delete(own);
    };
  }

  /** As of now: what is overdue is told first. */
  get snapshot(): InformerHealth {
    this.tell({ type: 'tick' });
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

  /** In the state of its time, before anything that came after it. */
  #foldMerged(): void {
    if (this.#mergedMs === undefined) return;
    this.#state = stepHealth(this.#state, { type: 'merged' }, this.#mergedMs, this.#options.staleAfterMs);
    this.#mergedMs = undefined;
  }

  /** One timer, which may come too early: merges move the moment without moving it. */
  #schedule(nowMs: number): void {
    const atMs = staleAtMs(this.#state, this.#options.staleAfterMs);
    if (atMs === undefined) {
      this.#cancelTimer?.();
      this.#cancelTimer = undefined;
      return;
    }
    this.#cancelTimer ??= this.#options.clock.schedule(Math.max(1, atMs - nowMs), () => {
      this.#cancelTimer = undefined;
      this.tell({ type: 'tick' });
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
