/**
 * The note in a member's heartbeat: what it holds, and what it cannot take. `kubectl get lease -o yaml` shows it as the annotation
 * `kubeloom.dev/note`, a line of JSON.
 */
import { parseJson } from '../base/parse-json.ts';
import type { StoredRecord } from '../controller/leader-election/resource-lock.ts';

export interface Note {
  /** The way in which the member divides keys: `uid-16`. */
  readonly division: string;
  /** Whether the member hands over all that it holds, and takes nothing. */
  readonly isLeaving: boolean;
  /** The partitions that it holds: their epochs, and whether their work is active. */
  readonly holds: Readonly<Record<number, readonly [epoch: number, isActive: boolean]>>;
  /** The partitions that it cannot take, with the wall time of the last failure. */
  readonly cannotTake: Readonly<Record<number, string>>;
}

/** A heartbeat as it was seen. */
export interface Heartbeat {
  /** Undefined: there is no Lease. */
  readonly version: string | undefined;
  /** Empty when the member has released it. */
  readonly holder: string;
  /** Time for which the others leave what the member holds alone; 0 when another program has written none. */
  readonly durationMs: number;
  /** Wall time of the server at which the Lease was made. */
  readonly createdAt: string;
  readonly note: Note;
}

const EMPTY: Note = { division: '', isLeaving: false, holds: {}, cannotTake: {} };

/** Returns the version of the record: that of its Lease. */
export function versionOf({ source }: StoredRecord): string {
  return leaseOf(source).metadata?.resourceVersion ?? String(source);
}

/** @param stored undefined when there is no Lease */
export function heartbeatOf(stored: StoredRecord | undefined): Heartbeat {
  if (!stored) return { version: undefined, holder: '', durationMs: 0, createdAt: '', note: EMPTY };
  const { holderIdentity, leaseDurationSeconds, note } = stored.record;
  return {
    version: versionOf(stored),
    holder: holderIdentity,
    durationMs: leaseDurationSeconds * 1000,
    createdAt: leaseOf(stored.source).metadata?.creationTimestamp ?? '',
    note: parsed(note),
  };
}

function leaseOf(source: unknown): {
  readonly metadata?: { readonly resourceVersion?: string; readonly creationTimestamp?: string };
} {
  return typeof source === 'object' && source !== null ? source : {};
}

/** A note that another program has changed counts as an empty one: the Leases of the partitions decide. */
function parsed(text: string | undefined): Note {
  const note = text === undefined ? undefined : parseJson(text);
  return typeof note === 'object' && note !== null ? { ...EMPTY, ...note } : EMPTY;
}
