/**
 * The lock of an election: a record on the server that candidates read, create and replace. The server must provide
 * only this: a replacement fails if the record changed since it was read.
 */

/** The content of the lock, with the names of a Lease's `spec`. */
export interface LeaderElectionRecord {
  /** Empty after the last holder released the lock. */
  readonly holderIdentity: string;
  /**
   * Time for which other candidates leave an unchanged record alone; 0 if another program wrote the record without a
   * duration.
   */
  readonly leaseDurationSeconds: number;
  /** Wall time of the holder, for people; '' if unknown. Candidates compare records, never clocks. */
  readonly acquireTime: string;
  /** Wall time of the last renewal, for people. */
  readonly renewTime: string;
  /** Number of earlier acquisitions: 0 for the first holder. A renewal does not count. */
  readonly leaseTransitions: number;
  /** Text of the holder for other candidates; a LeaseLock keeps it in the annotation `kubeloom.dev/note`. */
  readonly note?: string;
}

/** A record as stored. */
export interface StoredRecord {
  /** Content of the lock. */
  readonly record: LeaderElectionRecord;
  /** The object that holds the record, in the version that was read. Only the lock uses it. */
  readonly source: unknown;
}

/**
 * The operations on a lock, as in client-go's resourcelock.Interface. Each rejects if it failed, or if its outcome is
 * unknown. A lost race is an error with the code ERR_KUBELOOM_CONFLICT or ERR_KUBELOOM_ALREADY_EXISTS.
 */
export interface ResourceLock {
  /** Name of this candidate; must be unique. */
  readonly identity: string;
  /** Returns the name of the lock for messages and metrics: `namespace/name`. */
  describe(): string;
  /** Reads the record from the server, past every cache; undefined if there is no record. */
  get(signal: AbortSignal): Promise<StoredRecord | undefined>;
  /** Creates the record. Rejects with ERR_KUBELOOM_ALREADY_EXISTS if there is a record. */
  create(record: LeaderElectionRecord, signal: AbortSignal): Promise<StoredRecord>;
  /** Replaces `stored`, unless the server holds a newer version. */
  update(stored: StoredRecord, record: LeaderElectionRecord, signal: AbortSignal): Promise<StoredRecord>;
}

/** Returns whether a candidate cannot tell two records apart: the lease was not renewed in between. */
export function isSameRecord(a: LeaderElectionRecord, b: LeaderElectionRecord): boolean {
  return (
    a.holderIdentity === b.holderIdentity &&
    a.renewTime === b.renewTime &&
    a.acquireTime === b.acquireTime &&
    a.leaseTransitions === b.leaseTransitions &&
    a.leaseDurationSeconds === b.leaseDurationSeconds
  );
}
