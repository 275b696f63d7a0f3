/** A report about a group of partitions, from the Leases at a point in time. */
import { parseJson } from '../../base/parse-json.ts';
import { isRecord } from '../../kube/meta-shape.ts';
import type { Fields } from '../../kube/meta-shape.ts';
import { textAt, valueAt } from '../../kube/wire-path.ts';
import type { ListedObject } from '../loadtest/process/list-page.ts';

export interface PartitionRow {
  readonly partition: number;
  /** Empty if no member owns the partition. */
  readonly owner: string;
  readonly epoch: number;
  /** Seconds since the owner changed; undefined without a Lease. */
  readonly ageSeconds: number | undefined;
  /** `starting`: the owner fills caches, or hands the partition over. */
  readonly state: 'active' | 'starting' | 'not served';
}

export interface MemberRow {
  readonly member: string;
  readonly renewedSecondsAgo: number;
  readonly isAlive: boolean;
  readonly isLeaving: boolean;
  readonly holds: number;
  readonly cannotTake: readonly number[];
}

export interface PartitionsReport {
  readonly partitions: readonly PartitionRow[];
  readonly members: readonly MemberRow[];
}

interface HeartbeatNote {
  /** The number of partitions of the member's group; undefined if the note names none. */
  readonly count: number | undefined;
  readonly isLeaving: boolean;
  readonly holds: Readonly<Record<string, readonly unknown[]>>;
  readonly cannotTake: readonly number[];
}

/** A group has no more partitions. */
const PARTITIONS_MAX = 256;

/** Reads the note of a heartbeat, which any program with a right to write Leases may have written. */
function noteOf(text: string | undefined): HeartbeatNote {
  const { division, isLeaving, holds, cannotTake } = recordOf(parseJson(text ?? ''));
  const [, digits = ''] = typeof division === 'string' ? (/[^-]-(\d+)$/.exec(division) ?? []) : [];
  const count = Number(digits);
  const held = Object.entries(recordOf(holds)).filter((entry): entry is [string, unknown[]] =>
    Array.isArray(entry[1]),
  );
  return {
    count: count >= 1 && count <= PARTITIONS_MAX ? count : undefined,
    isLeaving: isLeaving === true,
    holds: Object.fromEntries(held),
    cannotTake: Object.keys(recordOf(cannotTake))
      .filter((key) => /^\d+$/.test(key))
      .map(Number),
  };
}

function recordOf(value: unknown): Fields {
  return isRecord(value) && !Array.isArray(value) ? value : {};
}

/** @param nowMs wall time: a heartbeat older than its duration counts as gone, as far as the clocks agree */
export function reportOf(group: string, leases: readonly ListedObject[], nowMs: number): PartitionsReport {
  const byName = new Map(leases.map((lease) => [lease.metadata.name, lease]));
  const prefix = `${group}-member-`;
  const notes = new Map<string, HeartbeatNote>();
  const members: MemberRow[] = [];
  for (const [name, lease] of byName) {
    if (!name.startsWith(prefix) || textAt(lease, 'spec.holderIdentity') === '') continue;
    const member = name.slice(prefix.length);
    const note = noteOf(lease.metadata.annotations?.['kubeloom.dev/note']);
    const agoMs = nowMs - Date.parse(textAt(lease, 'spec.renewTime'));
    const isAlive = agoMs < numberAt(lease, 'spec.leaseDurationSeconds') * 1000;
    if (isAlive) notes.set(member, note);
    members.push({
      member,
      renewedSecondsAgo: Math.round(agoMs / 1000),
      isAlive,
      isLeaving: note.isLeaving,
      holds: Object.keys(note.holds).length,
      cannotTake: note.cannotTake,
    });
  }
  const counts = Array.from(notes.values(), ({ count }) => count).filter((count) => count !== undefined);
  const leased = [...byName.keys()].filter((name) => name.startsWith(`${group}-partition-`));
  const count = counts.length > 0 ? Math.max(...counts) : leased.length;
  const partitions = Array.from({ length: count }, (_, partition) => {
    const name = `${group}-partition-${String(partition).padStart(2, '0')}`;
    return rowOf(partition, byName.get(name), notes, nowMs);
  });
  return { partitions, members };
}

function rowOf(
  partition: number,
  lease: ListedObject | undefined,
  notes: ReadonlyMap<string, HeartbeatNote>,
  nowMs: number,
): PartitionRow {
  const acquiredMs = Date.parse(textAt(lease, 'spec.acquireTime'));
  const owner = textAt(lease, 'spec.holderIdentity');
  const [epoch, isActive] = notes.get(owner)?.holds[partition] ?? [];
  const state = epoch === undefined ? 'not served' : isActive === true ? 'active' : 'starting';
  const ageSeconds = Number.isNaN(acquiredMs) ? undefined : Math.round((nowMs - acquiredMs) / 1000);
  return { partition, owner, epoch: numberAt(lease, 'spec.leaseTransitions'), ageSeconds, state };
}

function numberAt(object: unknown, path: string): number {
  const value = valueAt(object, path);
  return typeof value === 'number' ? value : 0;
}
