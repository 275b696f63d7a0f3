/**
 * The note in a member's heartbeat: the partitions that the member holds, and those that it cannot take. `kubectl get
 * lease -o yaml` shows it as the annotation `kubeloom.dev/note`, a line of JSON.
 */
import { parseJson } from '../base/parse-json.ts';
import { isRecord } from '../kube/meta-shape.ts';
import type { StoredRecord } from '../controller/leader-election/resource-lock.ts';

export interface Note {
  /** The way in which the member divides keys: `uid-16`. */
  readonly division: string;
  /** Whether the member hands over all partitions and takes no others. */
  readonly isLeaving: boolean;
  /** Whether the life owns nothing and never will again: all partitions are handed over, or another member deposed it. */
  readonly isOver: boolean;
  /** The member's partitions: the epoch, and whether the work is active. */
  readonly holds: Readonly<Record<number, readonly [epoch: number, isActive: boolean]>>;
  /** The partitions that the member cannot take, with the wall time of the last failure. */
  readonly cannotTake: Readonly<Record<number, string>>;
}

/** A heartbeat, read from a Lease. */
export interface Heartbeat {
  /** The Lease, in the version that was read; undefined if there is no Lease. */
  readonly stored: StoredRecord | undefined;
  /** Undefined if there is no Lease. */
  readonly version: string | undefined;
  /** The life itself. Empty if the heartbeat was released or emptied. */
  readonly holder: string;
  /**
   * Time for which other members respect the member's partitions, the shortest that was seen; 0 if another program wrote
   * the Lease without a duration.
   */
  readonly durationMs: number;
  /** Wall time of the server when the Lease was created. */
  readonly createdAt: string;
  readonly note: Note;
}

const EMPTY: Note = { division: '', isLeaving: false, isOver: false, holds: {}, cannotTake: {} };

/** A heartbeat that does not exist. It does not limit the duration of one that appears. */
export const NO_HEARTBEAT: Heartbeat = {
  stored: undefined,
  version: undefined,
  holder: '',
  durationMs: Infinity,
  createdAt: '',
  note: EMPTY,
};

/** Returns the version of the record's Lease. */
export function versionOf({ source }: StoredRecord): string {
  return leaseOf(source).metadata?.resourceVersion ?? String(source);
}

/** @param stored undefined if there is no Lease */
export function heartbeatOf(stored: StoredRecord | undefined): Heartbeat {
  if (!stored) return NO_HEARTBEAT;
  const { holderIdentity, leaseDurationSeconds, note } = stored.record;
  return {
    stored,
    version: versionOf(stored),
    holder: holderIdentity,
    durationMs: leaseDurationSeconds * 1000,
    createdAt: leaseOf(stored.source).metadata?.creationTimestamp ?? '',
    note: parsed(note),
  };
}

/** Returns the Lease of a record. */
export function leaseOf(source: unknown): {
  readonly metadata?: {
    readonly resourceVersion?: string;
    readonly creationTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
} {
  return typeof source === 'object' && source !== null ? source : {};
}

/** A member of a wrong shape, which another program wrote, counts as absent: the Leases of the partitions decide. */
function parsed(text: string | undefined): Note {
  const note = text === undefined ? undefined : parseJson(text);
  if (!isRecord(note)) return EMPTY;
  const { division, isLeaving, isOver, holds, cannotTake } = note;
  return {
    division: typeof division === 'string' ? division : '',
    isLeaving: isLeaving === true,
    isOver: isOver === true,
    holds: isRecord(holds) && Object.values(holds).every(isHolding) ? (holds as Note['holds']) : {},
    cannotTake: isRecord(cannotTake) ? (cannotTake as Note['cannotTake']) : {},
  };
}

function isHolding(value: unknown): boolean {
  return Array.isArray(value) && typeof value[0] === 'number' && typeof value[1] === 'boolean';
}
