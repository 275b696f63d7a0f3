/**
 * H3, the records that shards write. I5b: the sequences of each shard grow, and together they are complete,
 * however often new threads have begun. So merging by sequence merges everything once, in the reflector's order.
 * A thread that dies leaves out what it had not written; new threads write everything behind the last merged
 * record again, so only the records that this restart keeps count.
 */
import { compareU32 } from '../../../../src/shared/ring/word.ts';
import { drops } from '../histories.ts';
import type { AppliedRecord, Histories } from '../histories.ts';
import { violation } from '../violation.ts';
import type { Violation } from '../violation.ts';

export function checkShards({ applied, restarts }: Histories): Violation[] {
  const found: Violation[] = [];
  const last = new Map<string, number>();
  const kept = new Set<number>();
  for (const record of applied) {
    const { shard, incarnation, sequence, kind } = record;
    const thread = `${shard}/${incarnation}`;
    const before = last.get(thread);
    if (before !== undefined && compareU32(sequence, before) <= 0) {
      found.push(violation('I5b', `shard ${shard} wrote ${kind} ${sequence} after ${before}`));
    }
    last.set(thread, sequence);
    if (!restarts.some((restart) => drops(restart, record))) kept.add(sequence);
  }
  const first = firstOf(applied);
  if (first === undefined) return found;
  for (let number = 0; number < kept.size; number++) {
    if (kept.has((first + number) >>> 0)) continue;
    found.push(violation('I5b', `no shard wrote the sequence ${(first + number) >>> 0}`));
    break;
  }
  return found;
}

function firstOf(applied: readonly AppliedRecord[]): number | undefined {
  let first = applied[0]?.sequence;
  for (const { sequence } of applied)
    if (first !== undefined && compareU32(sequence, first) < 0) first = sequence;
  return first;
}
