/** The calls of an election to its lock: at most one is in progress, and its outcome is an event. */
import type { Draft, ElectionEffect, ElectionEvent } from './election-state.ts';
import type { LeaderElectionRecord, ResourceLock, StoredRecord } from './resource-lock.ts';

const CONFLICTS: ReadonlySet<unknown> = new Set(['ERR_KUBELOOM_CONFLICT', 'ERR_KUBELOOM_ALREADY_EXISTS']);

type CallEffect = Extract<ElectionEffect, { readonly type: 'get' | 'create' | 'update' | 'cancel' }>;
type CallEvent = Extract<ElectionEvent, { readonly type: 'answered' | 'failed' }>;

/** @internal */
export class LeaseCalls {
  readonly #lock: ResourceLock;
  readonly #happened: (event: CallEvent) => void;
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
        return void this.#call((signal) => this.#lock.create(recordOf(effect.draft), signal));
      case 'update':
        return void this.#call((signal) => this.#lock.update(effect.stored, recordOf(effect.draft), signal));
      default:
        this.#inFlight?.abort();
    }
  }

  async #call(send: (signal: AbortSignal) => Promise<StoredRecord | undefined>): Promise<void> {
    const call = new AbortController();
    this.#inFlight = call;
    const event = await outcomeOf(send, call.signal);
    if (!call.signal.aborted) this.#happened(event);
  }
}

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

/** Microseconds, which is the only form that the server accepts. */
export function recordOf(draft: Draft): LeaderElectionRecord {
  const renewTime = new Date().toISOString().replace('Z', '000Z');
  return { ...draft, acquireTime: draft.acquireTime || renewTime, renewTime };
}
