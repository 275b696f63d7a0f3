/** What a scheduler and the threads that it steps share: a few words for each thread. */

/** Words of one thread. */
export const RUN = 0;
/** Counts the grants; the thread makes one access for each. */
export const GO = 1;
/** Counts the arrivals: the thread stands before an access. */
export const AT = 2;
export const STATE = 3;
/** Where it waits, when it is blocked. */
export const BLOCKED_ADDRESS = 4;
/** One more than the address that it notified since its last arrival; 0: none. */
export const NOTIFIED = 5;
export const WORDS_PER_THREAD = 8;

export const State = { Idle: 0, Ready: 1, Blocked: 2, Done: 3, Failed: 4 } as const;

/** Written to GO: leave the run. */
export const ABORT = -1;

export const ROLES = ['producer', 'consumer'] as const;
export type Role = (typeof ROLES)[number];

export interface LockstepPlan {
  readonly role: Role;
  readonly control: SharedArrayBuffer;
  readonly ring: SharedArrayBuffer;
  readonly bells: SharedArrayBuffer;
  readonly records: number;
  readonly payloadBytesMax: number;
  /** Breaks the protocol on purpose: the scheduler has to find it. */
  readonly mutant?: 'publish before payload' | 'no notify' | 'release before read';
}
