/**
 * A log of reconciliations, and its judge: no two processes may work on one key at the same time. Each process appends
 * to a file of its own. Times are nanoseconds of the monotonic clock that all processes of a machine share.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import type { Reconcile, SlotControllers } from '../../src/controller/index.ts';

/** One reconciliation. */
export interface Work {
  readonly member: string;
  readonly slot: number;
  readonly epoch: number;
  readonly key: string;
  readonly beginNs: bigint;
  /** Undefined when the process ended before, or was killed. */
  readonly endNs: bigint | undefined;
}

type Line = readonly [id: number, member: string, slot: number, epoch: number, key: string, ns: string];

let ids = 0;

/** Returns a function that reconciles, and writes a line before and one after, also when it fails. */
export function logged(
  file: string,
  member: string,
  { slot, epoch }: Pick<SlotControllers, 'slot' | 'epoch'>,
  reconcile: Reconcile,
): Reconcile {
  return async (key, context) => {
    const id = ids++;
    const write = (): void => {
      const line: Line = [id, member, slot, epoch, key, String(process.hrtime.bigint())];
      appendFileSync(file, `${JSON.stringify(line)}\n`);
    };
    write();
    try {
      return await reconcile(key, context);
    } finally {
      write();
    }
  };
}

/** Reads the log of one process; the last line may be cut off. */
export function readWorks(file: string): Work[] {
  const works = new Map<number, Work>();
  for (const text of readFileSync(file, 'utf8').split('\n').slice(0, -1)) {
    const [id, member, slot, epoch, key, ns] = JSON.parse(text) as Line;
    const begun = works.get(id);
    works.set(
      id,
      begun
        ? { ...begun, endNs: BigInt(ns) }
        : { member, slot, epoch, key, beginNs: BigInt(ns), endNs: undefined },
    );
  }
  return [...works.values()];
}

/**
 * Returns pairs of works of different members that overlap in time on one key.
 *
 * @param endOf returns the end of a work that has none: the time at which its process was killed
 */
export function overlaps(works: readonly Work[], endOf: (work: Work) => bigint): [Work, Work][] {
  const sorted = works.toSorted((a, b) => (a.beginNs < b.beginNs ? -1 : 1));
  /** Works of each key that were not over at the beginning of the last one. */
  const open = new Map<string, readonly Work[]>();
  return sorted.flatMap((work) => {
    const { key, member, beginNs } = work;
    const running = (open.get(key) ?? []).filter((other) => beginNs < (other.endNs ?? endOf(other)));
    open.set(key, [...running, work]);
    return running.filter((other) => other.member !== member).map((other): [Work, Work] => [other, work]);
  });
}
