/** The judge of a history: pure functions over its lines, one for each promise of docs/sharding.md. */
import type { Line } from './history.ts';

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

/** Returns a text for each promise that the history breaks. */
export function judge(unordered: readonly Line[]): string[] {
  const lines = unordered.toSorted((a, b) => a.atMs - b.atMs);
  const violations: string[] = [];
  const works = worksOf(lines, violations);
  const history: History = { lines, tenures: tenuresOf(lines), works, violations };
  judgeOwnership(history);
  judgeStates(history);
  judgeDeletions(history);
  for (const key of undelivered(lines))
    violations.push(`the newest state of ${key} was never worked to the end`);
  return violations;
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
  return [...newest].flatMap(([key, version]) => (isDelivered(works, key, version) ? [] : [key]));
}

/** S1, S3: owners of a partition follow each other, each with a greater epoch. */
function judgeOwnership({ tenures, violations }: History): void {
  for (const ofPartition of groups(tenures, ({ partition }) => partition).values()) {
    let before: Tenure | undefined;
    for (const tenure of ofPartition.toSorted((a, b) => a.firstMs - b.firstMs)) {
      if (before && tenure.firstMs <= before.lastMs)
        violations.push(`${tenure.name} acts before the last act of ${before.name}`);
      if (before && tenure.epoch <= before.epoch) violations.push(`${tenure.name} follows ${before.name}`);
      if (!before || tenure.lastMs > before.lastMs) before = tenure;
    }
  }
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

/** Returns whether a work that has this state of a key, or a newer one, has ended. */
function isDelivered(works: History['works'], key: string, version: number): boolean {
  const ofKey = works.get(key) ?? [];
  return ofKey.some((work) => work.endMs !== undefined && (work.version >= version || work.version === 0));
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
