/** Words that a scheduler and each of its threads share. */

/** Word indices of one thread. */
export const RUN = 0;
/** Number of grants; the thread makes one access for each. */
export const GO = 1;
/** Number of arrivals: the thread stands before an access. */
export const AT = 2;
export const STATE = 3;
/** Address on which it waits, when it is blocked. */
export const BLOCKED_ADDRESS = 4;
/** The address that it notified since its last arrival, plus one; 0: none. */
export const NOTIFIED = 5;
export const WORDS_PER_THREAD = 8;

export const State = { Idle: 0, Ready: 1, Blocked: 2, Done: 3, Failed: 4 } as const;

/** Written to GO: end the run. */
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
  /** A deliberate fault in the protocol that the scheduler must find. */
  readonly mutant?: 'publish before payload' | 'no notify' | 'release before read';
}
