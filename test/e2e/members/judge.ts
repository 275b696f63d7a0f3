/** The judge of a history: pure functions over its lines, one for each promise of docs/sharding.md. */
import type { Line } from './history.ts';

export interface Verdict {
  readonly violations: readonly string[];
  /** Time from each write, or the latest fault at the owner of its partition, to the work that has it; ascending. */
  readonly waitsMs: readonly number[];
  /** Time from the last act of an owner of a partition to the first act of the next one; ascending. */
  readonly handOversMs: readonly number[];
}

type LineOf<Kind extends Line['kind']> = Extract<Line, { readonly kind: Kind }>;

/** A period in which a member owns a partition, as its acts show it. */
interface Tenure {
  readonly name: string;
  readonly partition: number;
  readonly epoch: number;
  readonly member: string;
  readonly ownsMs: number;
  readonly firstMs: number;
  readonly lastMs: number;
}

/** A work from its begin to its end. `endMs` is undefined when it was killed, aborted or has failed. */
interface Work {
  readonly tenure: string;
  readonly key: string;
  readonly partition: number;
  readonly version: number;
  readonly beginMs: number;
  endMs: number | undefined;
}

interface History {
  readonly lines: readonly Line[];
  readonly tenures: readonly Tenure[];
  readonly works: ReadonlyMap<string, readonly Work[]>;
  readonly violations: string[];
}

/** @param waitMaxMs a write that waits longer is a violation */
export function judge(unordered: readonly Line[], waitMaxMs: number): Verdict {
  const lines = unordered.toSorted((a, b) => a.atMs - b.atMs);
  const violations: string[] = [];
  const works = worksOf(lines, violations);
  const history: History = { lines, tenures: tenuresOf(lines), works, violations };
  const handOversMs = judgeOwnership(history);
  judgeStates(history);
  judgeDeletions(history);
  const waitsMs = judgeDelivery(history, waitMaxMs);
  return { violations, waitsMs: ascending(waitsMs), handOversMs: ascending(handOversMs) };
}

/** Returns the keys of objects that exist, and whose newest write no work has that has ended. */
export function undelivered(lines: readonly Line[]): string[] {
  const works = worksOf(
    lines.toSorted((a, b) => a.atMs - b.atMs),
    [],
  );
  const newest = new Map<string, number>();
  for (const line of lines) {
    // The server shows the objects that a finalizer keeps: a work may be killed after it has removed one.
    if (line.kind === 'wrote') newest.set(line.key, Math.max(line.version, newest.get(line.key) ?? 0));
    if (line.kind === 'deleted') newest.delete(line.key);
  }
  return [...newest].flatMap(([key, version]) => (deliveryOf(works, key, version) ? [] : [key]));
}

/** S1, S3: owners of a partition follow each other, each with a greater epoch. Returns the times between them. */
function judgeOwnership({ tenures, violations }: History): number[] {
  const gapsMs: number[] = [];
  for (const ofPartition of groups(tenures, ({ partition }) => partition).values()) {
    let before: Tenure | undefined;
    for (const tenure of ofPartition.toSorted((a, b) => a.firstMs - b.firstMs)) {
      if (before) {
        const gapMs = tenure.firstMs - before.lastMs;
        gapsMs.push(gapMs);
        if (gapMs <= 0)
          violations.push(`${tenure.name} acts ${-gapMs} ms before the last act of ${before.name}`);
        if (tenure.epoch <= before.epoch) violations.push(`${tenure.name} follows ${before.name}`);
      }
      if (!before || tenure.lastMs > before.lastMs) before = tenure;
    }
  }
  return gapsMs;
}

/** S2: nothing is worked from a state that is older than the hand-over, or than what any earlier work had. */
function judgeStates({ lines, tenures, works, violations }: History): void {
  const ownsMs = new Map(tenures.map((tenure) => [tenure.name, tenure.ownsMs]));
  const writes = groups(linesOf(lines, 'wrote'), ({ key }) => key);
  const deleted = new Set(linesOf(lines, 'deleted').map(({ key }) => key));
  for (const [key, ofKey] of works) {
    let seen = 0;
    for (const { tenure, version, partition, beginMs } of ofKey) {
      const what = `${tenure} works on ${key} at ${version} (${beginMs})`;
      if (version === 0 && !deleted.has(key)) violations.push(`${what}, which was never deleted`);
      // A key has the uid of its object: an object that is made again under the name has another key.
      if (version !== 0 && version < seen) violations.push(`${what}, after a work at ${seen}`);
      seen = version === 0 ? Infinity : version;
      const handedOver = (writes.get(key) ?? []).findLast(({ atMs }) => atMs < (ownsMs.get(tenure) ?? 0));
      if (version !== 0 && handedOver && version < handedOver.version)
        violations.push(`${what}, and ${handedOver.version} was written before its owner had the partition`);
      if (partition !== ofKey[0]?.partition)
        violations.push(`${what}, which belonged to partition ${ofKey[0]?.partition}`);
    }
  }
}

/** S4: what was gone before a member had the partition reaches it in no way. */
function judgeDeletions({ lines, tenures, works, violations }: History): void {
  const ownsMs = new Map(tenures.map((tenure) => [tenure.name, tenure.ownsMs]));
  for (const { key, version, atMs } of linesOf(lines, 'deleted'))
    for (const { tenure } of works.get(key) ?? [])
      if (version === undefined && (ownsMs.get(tenure) ?? 0) > atMs)
        violations.push(`${tenure} works on ${key}, which was gone before`);
}

/** S3: the newest state of every key is worked to the end, and no state waits for long. Returns the times. */
function judgeDelivery({ lines, works, violations }: History, waitMaxMs: number): number[] {
  for (const key of undelivered(lines))
    violations.push(`the newest state of ${key} was never worked to the end`);
  const excuses = excusesOf(lines);
  const waitsMs: number[] = [];
  for (const { key, version, atMs } of linesOf(lines, 'wrote')) {
    const work = deliveryOf(works, key, version);
    if (!work) continue;
    const excuseMs = (excuses.get(work.partition) ?? []).findLast((eachMs) => eachMs <= work.beginMs) ?? 0;
    const waitMs = Math.max(0, work.beginMs - Math.max(atMs, excuseMs));
    waitsMs.push(waitMs);
    if (waitMs > waitMaxMs)
      violations.push(`${key} at ${version} waited ${waitMs} ms in partition ${work.partition}`);
  }
  return waitsMs;
}

/** Returns the first work that has this state of a key, or a newer one, and has ended. */
function deliveryOf(works: History['works'], key: string, version: number): Work | undefined {
  const ofKey = works.get(key) ?? [];
  return ofKey.find((work) => work.endMs !== undefined && (work.version >= version || work.version === 0));
}

/** Returns the times at which faults began to strike the owner of each partition, ascending. */
function excusesOf(lines: readonly Line[]): Map<number, number[]> {
  const faults = groups(linesOf(lines, 'disturbed'), ({ member }) => member);
  const excuses = new Map<number, number[]>();
  for (const [partition, owners] of groups(linesOf(lines, 'owns'), (line) => line.partition)) {
    const times = owners.flatMap(({ member, atMs }, at) => {
      const endMs = owners[at + 1]?.atMs ?? Infinity;
      const struck = (faults.get(member) ?? []).filter(
        (fault) => fault.untilMs >= atMs && fault.atMs < endMs,
      );
      return struck.map((fault) => Math.max(fault.atMs, atMs));
    });
    excuses.set(partition, ascending(times));
  }
  return excuses;
}

function tenuresOf(lines: readonly Line[]): Tenure[] {
  const tenures = new Map<string, Tenure>();
  const ownsMs = new Map(linesOf(lines, 'owns').map((line) => [nameOf(line), line.atMs]));
  for (const line of lines) {
    if (line.kind !== 'begins' && line.kind !== 'ends') continue;
    const { partition, epoch, member, atMs } = line;
    const name = nameOf(line);
    const { firstMs = atMs } = tenures.get(name) ?? {};
    tenures.set(name, {
      name,
      partition,
      epoch,
      member,
      ownsMs: ownsMs.get(name) ?? atMs,
      firstMs,
      lastMs: atMs,
    });
  }
  return [...tenures.values()];
}

/** Returns the works of each key in the order of their begins; two of a tenure at one time are a violation. */
function worksOf(lines: readonly Line[], violations: string[]): Map<string, Work[]> {
  const works = new Map<string, Work[]>();
  const open = new Map<string, Work>();
  for (const line of lines) {
    if (line.kind !== 'begins' && line.kind !== 'ends' && line.kind !== 'stops') continue;
    const { key, partition, atMs } = line;
    const tenure = nameOf(line);
    const name = `${key} in ${tenure}`;
    if (line.kind !== 'begins') {
      const work = open.get(name);
      if (work && line.kind === 'ends') work.endMs = atMs;
      open.delete(name);
      continue;
    }
    if (open.has(name)) violations.push(`two works at one time on ${name}`);
    const work: Work = { tenure, key, partition, version: line.version, beginMs: atMs, endMs: undefined };
    open.set(name, work);
    const ofKey = works.get(key);
    if (ofKey) ofKey.push(work);
    else works.set(key, [work]);
  }
  return works;
}

function linesOf<Kind extends Line['kind']>(lines: readonly Line[], kind: Kind): LineOf<Kind>[] {
  return lines.filter((line): line is LineOf<Kind> => line.kind === kind);
}

function groups<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const found = new Map<Key, Item[]>();
  for (const item of items) {
    const group = found.get(keyOf(item));
    if (group) group.push(item);
    else found.set(keyOf(item), [item]);
  }
  return found;
}

function nameOf({ partition, epoch, member }: { partition: number; epoch: number; member: string }): string {
  return `${member} (partition ${partition}, epoch ${epoch})`;
}

function ascending(numbers: readonly number[]): number[] {
  return numbers.toSorted((a, b) => a - b);
}
