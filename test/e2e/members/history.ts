/**
 * The history of a group of members: lines that each member and the conductor write, with times on the monotonic clock
 * that all processes of a machine share. The judge reads nothing else.
 */

/** The finalizer of objects whose deletion must reach a member. */
export const FINALIZER = 'example.com/member';

interface At {
  readonly atMs: number;
}

interface InTenure extends At {
  readonly member: string;
  readonly partition: number;
  readonly epoch: number;
}

/** Lines of members. The time of a line is taken before the look at the signal that it depends on. */
export type MemberLine =
  /** The member has a partition, and fills its caches from now on. */
  | ({ readonly kind: 'owns' } & InTenure)
  /** A work begins, its signal is not aborted. The cache has this version; 0: it has no object. */
  | ({ readonly kind: 'begins'; readonly key: string; readonly version: number } & InTenure)
  /** The work has ended, its signal is not aborted. */
  | ({ readonly kind: 'ends'; readonly key: string } & InTenure)
  /** The work has stopped before its end: its signal was found aborted, or it has failed. */
  | ({ readonly kind: 'stops'; readonly key: string } & InTenure)
  | ({
      readonly kind: 'reports';
      readonly member: string;
      readonly code: string;
      readonly message: string;
    } & At);

/** Lines of the conductor. */
export type ConductorLine =
  /** The server has confirmed a write. */
  | ({ readonly kind: 'wrote'; readonly key: string; readonly version: number } & At)
  /** The server has confirmed a deletion: of this version if a finalizer holds the object, else it is gone. */
  | ({ readonly kind: 'deleted'; readonly key: string; readonly version?: number } & At);

export type Line = MemberLine | ConductorLine;

export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
