/** A report about a group of partitions, from the Leases at a point in time. */
import { parseJson } from '../../base/parse-json.ts';
import type { WireOf } from '../../index.ts';

export type Lease = WireOf<'coordination', 'v1', 'Lease'>;

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
  readonly division?: string;
  readonly isLeaving?: boolean;
  readonly holds?: Readonly<Record<string, readonly [epoch: number, isActive: boolean]>>;
  readonly cannotTake?: Readonly<Record<string, string>>;
}

/** @param nowMs wall time: a heartbeat older than its duration counts as gone, as far as the clocks agree */
export function reportOf(group: string, leases: readonly Lease[], nowMs: number): PartitionsReport {
  const byName = new Map(leases.map((lease) => [lease.metadata?.name ?? '', lease]));
  const prefix = `${group}-member-`;
  const notes = new Map<string, HeartbeatNote>();
  const members: MemberRow[] = [];
  for (const [name, { spec, metadata }] of byName) {
    if (!name.startsWith(prefix) || !spec?.holderIdentity) continue;
    const member = name.slice(prefix.length);
    const note = (parseJson(metadata?.annotations?.['kubeloom.dev/note'] ?? '') ?? {}) as HeartbeatNote;
    const agoMs = nowMs - Date.parse(spec.renewTime ?? '');
    const isAlive = agoMs < (spec.leaseDurationSeconds ?? 0) * 1000;
    if (isAlive) notes.set(member, note);
    members.push({
      member,
      renewedSecondsAgo: Math.round(agoMs / 1000),
      isAlive,
      isLeaving: note.isLeaving === true,
      holds: Object.keys(note.holds ?? {}).length,
      cannotTake: Object.keys(note.cannotTake ?? {}).map(Number),
    });
  }
  const counts = Array.from(notes.values(), ({ division = '' }) => Number(division.split('-').at(-1)));
  const leased = [...byName.keys()].filter((name) => name.startsWith(`${group}-partition-`));
  const count = Math.max(0, ...(counts.length > 0 ? counts : [leased.length]));
  const partitions = Array.from({ length: count }, (_, partition) => {
    const name = `${group}-partition-${String(partition).padStart(2, '0')}`;
    return rowOf(partition, byName.get(name), notes, nowMs);
  });
  return { partitions, members };
}

function rowOf(
  partition: number,
  lease: Lease | undefined,
  notes: ReadonlyMap<string, HeartbeatNote>,
  nowMs: number,
): PartitionRow {
  const { holderIdentity, leaseTransitions, acquireTime } = lease?.spec ?? {};
  const owner = holderIdentity ?? '';
  const [epoch, isActive] = notes.get(owner)?.holds?.[partition] ?? [];
  const ageMs = acquireTime === undefined ? undefined : nowMs - Date.parse(acquireTime);
  const state = epoch === undefined ? 'not served' : isActive === true ? 'active' : 'starting';
  const ageSeconds = ageMs === undefined ? undefined : Math.round(ageMs / 1000);
  return { partition, owner, epoch: leaseTransitions ?? 0, ageSeconds, state };
}
