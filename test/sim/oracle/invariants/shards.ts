/**
 * H3, the records that shards write. I5b: the sequences of each shard grow, and together they are complete,
 * however often new threads have begun. So merging by sequence merges everything once, in the reflector's order.
 */
import type { AppliedRecord, Histories } from '../histories.ts';
import { violation } from '../violation.ts';
import type { Violation } from '../violation.ts';

export function checkShards({ applied }: Histories): Violation[] {
  const found: Violation[] = [];
  const last = new Map<string, number>();
  const seen = new Set<number>();
  for (const { shard, incarnation, sequence, kind } of applied) {
    // New threads write the sequences of unmerged records again.
    const thread = `${shard}/${incarnation}`;
    const before = last.get(thread);
    if (before !== undefined && distance(before, sequence) <= 0) {
      found.push(violation('I5b', `shard ${shard} wrote ${kind} ${sequence} after ${before}`));
    }
    last.set(thread, sequence);
    seen.add(sequence);
  }
  const first = firstOf(applied);
  if (first === undefined) return found;
  for (let number = 0; number < seen.size; number++) {
    if (seen.has((first + number) >>> 0)) continue;
    found.push(violation('I5b', `no shard wrote the sequence ${(first + number) >>> 0}`));
    break;
  }
  return found;
}

function firstOf(applied: readonly AppliedRecord[]): number | undefined {
  let first = applied[0]?.sequence;
  for (const { sequence } of applied)
    if (first !== undefined && distance(first, sequence) < 0) first = sequence;
  return first;
}

/** Distance of two sequences, which wrap. */
function distance(from: number, to: number): number {
  return (to - from) | 0;
}
