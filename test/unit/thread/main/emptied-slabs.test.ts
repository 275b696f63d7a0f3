/** A round of packing that sleeps between two steps, while compaction empties the slab that the round walks over. */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { ExportedRows } from '../../../../src/thread/main/exported-rows.ts';
import { EntryFlag } from '../../../../src/replica/store/entry.ts';
import type { Random } from '../../../../src/base/clock.ts';
import type { EntryOwner } from '../../../../src/replica/store/entry-owner.ts';
import { seededRandom } from '../../shared/ring/random.ts';
import { at, compactAll, newEntry, newOwner, packRounds } from '../../replica/store/objects.ts';

/** Objects in a slab, and slabs of them. */
const PER_SLAB = 500;
const SLABS = 10;
/** Bytes of each object that it shares with no other: what is left of a packed one. */
const NOISE_BYTES = 300;

class Scene {
  readonly owner: EntryOwner = newOwner({ packing: { totalBytesMin: 0 } });
  readonly exportedRows: ExportedRows = new ExportedRows(this.owner.table);
  /** Former rows that the thread has not returned. */
  readonly formers: number[] = [];
  readonly #random: Random = seededRandom(1);
  readonly #texts: Map<number, string> = new Map();

  constructor() {
    const { table } = this.owner;
    // The rule of `CacheExports`, for one thread.
    this.owner.readers = {
      mayMove: () => true,
      moved: (row, former) => {
        table.addReference(former);
        if (this.exportedRows.has(row)) {
          this.exportedRows.begin(former);
          this.formers.push(former);
        } else table.setFlag(row, EntryFlag.Exported, false);
        table.dropReference(former);
      },
      dropped: () => undefined,
    };
  }

  /** Returns the rows by slab, the slab that a walk meets first at the front. */
  fill(): number[][] {
    const rows = Array.from({ length: SLABS * PER_SLAB }, (_, number) =>
      this.add(`pod-${String(number).padStart(6, '0')}`, 900),
    );
    return this.bySlab(rows);
  }

  bySlab(rows: readonly number[]): number[][] {
    const bySlab: number[][] = [];
    for (const row of rows) (bySlab[this.owner.table.slabOf(row)] ??= []).push(row);
    return Object.values(bySlab);
  }

  add(name: string, bytes: number): number {
    const { owner } = this;
    const text = 'abcdefgh'.repeat((bytes - NOISE_BYTES) / 8) + this.#noise();
    const entry = newEntry(owner, { ...at(name, 1), spec: { text } });
    const { row } = entry;
    entry.addReference();
    owner.table.closeEntry(entry);
    owner.slabs.slabOf(row).isShared = true;
    this.#texts.set(row, this.read(row));
    return row;
  }

  drop(rows: readonly number[]): void {
    for (const row of rows) {
      this.#texts.delete(row);
      this.owner.table.dropReference(row);
    }
  }

  returnFormers(count: number = Infinity): void {
    for (const former of this.formers.splice(0, count)) this.exportedRows.end(former);
  }

  read(row: number): string {
    const { table, packed, slabs } = this.owner;
    const length = table.lengthOf(row);
    if (table.hasFlag(row, EntryFlag.Packed)) return packed.unpacked(row).toString('latin1', 0, length);
    const start = table.offsetOf(row);
    return slabs.slabOf(row).bytes.toString('latin1', start, start + length);
  }

  #noise(): string {
    let text = '';
    while (text.length < NOISE_BYTES) text += this.#random().toString(36).slice(2);
    return text.slice(0, NOISE_BYTES);
  }

  check(): void {
    for (const [row, text] of this.#texts) assert.equal(this.read(row), text);
  }
}

/** Returns a scene whose round sleeps before a slab that compaction has emptied, except for one former row. */
function emptied(): { scene: Scene; round: Generator<void, boolean, void>; moved: readonly number[] } {
  const scene = new Scene();
  const slabs = scene.fill();
  packRounds(scene.owner);
  const [last = [], before = []] = [slabs.at(-1), slabs.at(-2)];
  // A thread has one row of the slab: its first list is on its way.
  scene.exportedRows.begin(last[0] ?? 0);
  const round = scene.owner.packed.round();
  for (let step = 0; step < 3; step++) round.next();
  for (const rows of slabs.slice(1, -2)) scene.drop(rows.slice(0, PER_SLAB * 0.7));
  scene.drop(before.slice(0, 100));
  scene.drop(last.slice(12));
  compactAll(scene.owner);
  assert.equal(scene.formers.length, 1, 'the slab was not emptied');
  return { scene, round, moved: last.slice(1, 12) };
}

test('a round continues when a row has ended that compaction moved out of the slab before it', () => {
  const { scene, round, moved } = emptied();
  scene.drop(moved.slice(4, 5));
  while (!round.next().done);
  scene.check();
});

test('a round packs a row once that compaction moved out of the slab before it', () => {
  const { scene, round } = emptied();
  for (let step = 0; step < 800; step++) round.next();
  // These objects take over numbers of slabs that the round has emptied so far.
  const more = (name: string): void => {
    for (let number = 0; number < 200; number++) scene.add(`${name}-${number}`, 2000 + 320 * (number % 6));
  };
  more('new');
  while (!round.next().done);
  more('newer');
  scene.check();
});

test('a walk over a slab that compaction empties yields no former row that a thread has returned', () => {
  const scene = new Scene();
  const { owner, exportedRows } = scene;
  const { slabs, table } = owner;
  const rows = scene.fill();
  for (const row of rows.flat()) exportedRows.begin(row);
  const [last = [], ...others] = rows.toReversed();
  const [first = 0] = last;
  const slab = slabs.slabOf(first);
  const walk = slabs.rowsIn(slab);
  assert.equal(walk.next().value, first);
  for (const row of [...last.slice(20), ...others.flatMap((each) => each.slice(0, each.length * 0.6))]) {
    exportedRows.end(row);
    scene.drop([row]);
  }
  compactAll(owner);
  const inSlab = scene.formers.filter((former) => slabs.slabOf(former) === slab);
  assert.equal(inSlab.length, 20);
  for (const former of inSlab.slice(0, 10)) {
    scene.formers.splice(scene.formers.indexOf(former), 1);
    exportedRows.end(former);
  }
  for (const row of walk) assert.ok(table.has(row) && slabs.slabOf(row) === slab, `row ${row} is elsewhere`);
  scene.returnFormers();
  scene.check();
});
