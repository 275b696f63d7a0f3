/**
 * The lock of an election: one record on the server that candidates read, create and replace. An election needs no more
 * of a server than that a replacement fails when the record has changed since it was read.
 */

/** The content of the lock, with the names of a Lease's `spec`. */
export interface LeaderElectionRecord {
  /** Empty when the last holder has released the lock. */
  readonly holderIdentity: string;
  /** Time for which other candidates leave an unchanged record alone; 0 when another program has written none. */
  readonly leaseDurationSeconds: number;
  /** Wall time of the holder, for people; '' when there is none. Candidates look at changes only, never at a clock. */
  readonly acquireTime: string;
  /** The same. */
  readonly renewTime: string;
  readonly leaseTransitions: number;
  /** Text of the holder for the others; a LeaseLock keeps it in the annotation `kubeloom.dev/note`. */
  readonly note?: string;
}

/** A record as the server has stored it. */
export interface StoredRecord {
  readonly record: LeaderElectionRecord;
  /** The object that holds the record, in the version that was read. Only the lock uses it. */
  readonly source: unknown;
}

/**
 * The operations on a lock, as client-go's resourcelock.Interface has them. Each rejects when it failed, or when it cannot
 * be known whether it failed. A lost race is an error with the code ERR_KUBELOOM_CONFLICT or ERR_KUBELOOM_ALREADY_EXISTS.
 */
export interface ResourceLock {
  /** Name of this candidate, which no other one has. */
  readonly identity: string;
  /** Returns the name of the lock for messages and metrics: `namespace/name`. */
  describe(): string;
  /** Reads the record from the server, past every cache; undefined when there is none. */
  get(signal: AbortSignal): Promise<StoredRecord | undefined>;
  create(record: LeaderElectionRecord, signal: AbortSignal): Promise<StoredRecord>;
  /** Replaces `stored`, unless the server has another version by now. */
  update(stored: StoredRecord, record: LeaderElectionRecord, signal: AbortSignal): Promise<StoredRecord>;
}

/** Returns whether a candidate would see two records as the same: nothing was renewed in between. */
export function isSameRecord(a: LeaderElectionRecord, b: LeaderElectionRecord): boolean {
  return (
    a.holderIdentity === b.holderIdentity &&
    a.renewTime === b.renewTime &&
    a.acquireTime === b.acquireTime &&
    a.leaseTransitions === b.leaseTransitions &&
    a.leaseDurationSeconds === b.leaseDurationSeconds
  );
}
