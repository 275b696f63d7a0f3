/** The calls of an election to the lock: at most one is in progress; the outcome is an event. */
import type { Draft, ElectionEffect, ElectionEvent } from './election-state.ts';
import type { LeaderElectionRecord, ResourceLock, StoredRecord } from './resource-lock.ts';

const CONFLICTS: ReadonlySet<unknown> = new Set(['ERR_KUBELOOM_CONFLICT', 'ERR_KUBELOOM_ALREADY_EXISTS']);

type CallEffect = Extract<ElectionEffect, { readonly type: 'get' | 'create' | 'update' | 'cancel' }>;
type CallEvent = Extract<ElectionEvent, { readonly type: 'answered' | 'failed' }>;

/** @internal */
export class LeaseCalls {
  readonly #lock: ResourceLock;
  readonly #happened: (event: CallEvent) => void;
  /**
   * Times of the renewals that this process sent, the newest last: the answer to a write may be lost, and the write be
   * read later.
   */
  readonly #sentMs: number[] = [];
  #inFlight: AbortController | undefined;

  constructor(lock: ResourceLock, happened: (event: CallEvent) => void) {
    this.#lock = lock;
    this.#happened = happened;
  }

  perform(effect: CallEffect): void {
    switch (effect.type) {
      case 'get':
        return void this.#call((signal) => this.#lock.get(signal));
      case 'create':
        return void this.#call((signal) => this.#lock.create(this.#recordOf(effect.draft), signal));
      case 'update':
        return void this.#call((signal) =>
          this.#lock.update(effect.stored, this.#recordOf(effect.draft), signal),
        );
      default:
        this.#inFlight?.abort();
    }
  }

  async #call(send: (signal: AbortSignal) => Promise<StoredRecord | undefined>): Promise<void> {
    const call = new AbortController();
    this.#inFlight = call;
    const event = await outcomeOf(send, call.signal);
    if (call.signal.aborted) return;
    const isOfTwin = event.type === 'answered' && this.#isOfTwin(event.stored);
    this.#happened(isOfTwin ? { ...event, isOfTwin } : event);
  }

  /** Returns whether another process with the same identity wrote the record. */
  #isOfTwin(stored: StoredRecord | undefined): boolean {
    if (stored?.record.holderIdentity !== this.#lock.identity) return false;
    return !this.#sentMs.includes(Date.parse(stored.record.renewTime));
  }

  #recordOf(draft: Draft): LeaderElectionRecord {
    const record = recordOf(draft);
    this.#sentMs.push(Date.parse(record.renewTime));
    if (this.#sentMs.length > SENT_MAX) this.#sentMs.shift();
    return record;
  }
}

/** More than the number of writes within the time for which a leader leads without an answer. */
const SENT_MAX = 64;

async function outcomeOf(
  send: (signal: AbortSignal) => Promise<StoredRecord | undefined>,
  signal: AbortSignal,
): Promise<CallEvent> {
  try {
    return { type: 'answered', stored: await send(signal) };
  } catch (error) {
    const isConflict = error instanceof Error && 'code' in error && CONFLICTS.has(error.code);
    return { type: 'failed', error, isConflict };
  }
}

/** Microseconds, the only form that the server accepts. */
export function recordOf(draft: Draft): LeaderElectionRecord {
  const renewTime = new Date().toISOString().replace('Z', '000Z');
  return { ...draft, acquireTime: draft.acquireTime || renewTime, renewTime };
}
