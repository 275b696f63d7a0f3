/**
 * H3, what shards put into their rings. I5b: the sequences of each shard grow, and all of them together leave nothing
 * out, whichever shard was replaced: so merging by sequence is merging everything, once, in the reflector's order.
 */
import type { AppliedRecord } from '../histories.ts';
import type { RunView } from '../run-view.ts';
import { violation } from '../violation.ts';
import type { Violation } from '../violation.ts';

export function checkShards({ histories }: RunView): Violation[] {
  const found: Violation[] = [];
  const last = new Map<string, number>();
  const seen = new Set<number>();
  for (const { shard, incarnation, sequence, kind } of histories.applied) {
    // A successor does again what was not finished.
    const thread = `${shard}/${incarnation}`;
    const before = last.get(thread);
    if (before !== undefined && distance(before, sequence) <= 0) {
      found.push(violation('I5b', `shard ${shard} gave ${kind} ${sequence} after ${before}`));
    }
    last.set(thread, sequence);
    seen.add(sequence);
  }
  const first = firstOf(histories.applied);
  if (first === undefined) return found;
  for (let number = 0; number < seen.size; number++) {
    if (seen.has((first + number) >>> 0)) continue;
    found.push(violation('I5b', `no shard gave the sequence ${(first + number) >>> 0}`));
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

/** Of sequences, which wrap. */
function distance(from: number, to: number): number {
  return (to - from) | 0;
}
