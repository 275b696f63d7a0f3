/**
 * The store's rows, slabs, dictionaries and reader threads beside a simple model: the text of each row, and for each thread
 * the places that its records name. Slabs are tiny, so a few hundred objects are packed, moved and dissolved all the time.
 */
import assert from 'node:assert/strict';
import type { Random } from '../../../../src/base/clock.ts';
import { ExportedRows } from '../../../../src/thread/main/exported-rows.ts';
import { NO_ROW } from '../../../../src/replica/store/columns.ts';
import type { EntryOwner } from '../../../../src/replica/store/entry-owner.ts';
import { EntryFlag } from '../../../../src/replica/store/entry.ts';
import { OBJECT_BYTES_MAX } from '../../../../src/shared/pack/sampler.ts';
import { allocateViewed, unpack, viewedMemory } from '../../../../src/shared/pack/pack.ts';
import type { Slabs } from '../../../../src/replica/store/slabs.ts';
import { SlabMemory, shareMemory } from '../../../../src/replica/store/store-memory.ts';
import { seededRandom, wholeNumber } from '../../shared/ring/random.ts';
import { at, newEntry, newOwner } from '../../replica/store/objects.ts';

const SLAB_BYTES = 1024;
const OBJECTS_MAX = 150;
const READERS = 2;
const SCRATCH = allocateViewed(OBJECT_BYTES_MAX);

/** Overwrites released memory: no code may still read it. */
class ScribblingMemory extends SlabMemory {
  override give(memory: Buffer): boolean {
    memory.fill(0x58);
    return super.give(memory);
  }
}

/** The bytes of a row as a thread finds them: it reads without the main thread's table. */
interface Place {
  readonly bytes: Buffer;
  readonly offset: number;
  readonly storedBytes: number;
  readonly length: number;
  readonly dictionary: Buffer | undefined;
}

/** A record on its way to a thread: a row that is new there, or that has another place. */
interface Message {
  readonly row: number;
  readonly place: Place;
  readonly text: string;
  /** `NO_ROW` when the row is new. */
  readonly former: number;
}

class ModelReader {
  readonly #world: StoreModel;
  readonly exportedRows: ExportedRows;
  readonly inbox: Message[] = [];
  readonly rows: Map<number, { place: Place; readonly text: string }> = new Map();
  isDead = false;

  constructor(world: StoreModel) {
    this.#world = world;
    this.exportedRows = new ExportedRows(world.owner.table);
  }

  deliver(row: number): void {
    if (this.exportedRows.has(row)) return;
    this.exportedRows.begin(row);
    this.inbox.push({ row, former: NO_ROW, place: this.#world.placeOf(row), text: this.#world.textOf(row) });
  }

  moved(row: number, former: number): boolean {
    if (this.isDead || !this.exportedRows.has(row)) return false;
    this.exportedRows.begin(former);
    this.inbox.push({ row, former, place: this.#world.placeOf(row), text: this.#world.textOf(row) });
    return true;
  }

  take(): void {
    const message = this.inbox.shift();
    if (!message) return;
    const { row, former, place, text } = message;
    if (former === NO_ROW) this.rows.set(row, { place, text });
    else {
      const known = this.rows.get(row);
      if (known) known.place = place;
      this.exportedRows.end(former);
    }
  }

  /** Returns a row that the thread does not use any more. */
  returnRows(row: number): void {
    if (this.rows.delete(row)) this.exportedRows.end(row);
  }

  check(): void {
    for (const { place, text } of this.rows.values()) assert.equal(read(place), text, 'read by a thread');
  }
}

export class StoreModel {
  readonly owner: EntryOwner;
  readonly random: Random;
  /** Texts of the rows in the cache, and of superseded ones that something still has. */
  readonly #texts: Map<number, string> = new Map();
  readonly #cached: number[] = [];
  readonly #held: number[] = [];
  readonly #readers: ModelReader[];
  #ending: ModelReader[] = [];
  #round: Generator<void, boolean, void> | undefined;
  #rowEnd = 0;
  #added = 0;
  moves = 0;
  packs = 0;
  packsAtOnce = 0;
  dissolved = 0;
  compactions = 0;

  constructor(seed: number) {
    this.random = seededRandom(seed);
    const inboxMax = wholeNumber(this.random, 4, 40);
    this.owner = newOwner({
      packing: { totalBytesMin: 0, wastedBytesMin: 0 },
      slabMemory: new ScribblingMemory(SLAB_BYTES),
    });
    this.#readers = Array.from({ length: READERS }, () => new ModelReader(this));
    const { table } = this.owner;
    this.owner.readers = {
      mayMove: () => this.#readers.every(({ inbox }) => inbox.length < inboxMax),
      moved: (row, former) => {
        this.moves++;
        this.#rowEnd = Math.max(this.#rowEnd, former + 1);
        this.#texts.set(former, this.textOf(row));
        table.addReference(former);
        let isExported = false;
        for (const reader of this.#readers) isExported = reader.moved(row, former) || isExported;
        if (!isExported) table.setFlag(row, EntryFlag.Exported, false);
        table.dropReference(former);
      },
      dropped: ({ bytes }) => bytes.fill(0x58),
    };
  }

  step(): void {
    const { random } = this;
    const chance = random();
    const row = this.#cached[wholeNumber(random, 0, Math.max(0, this.#cached.length - 1))] ?? NO_ROW;
    const reader = this.#readers[wholeNumber(random, 0, READERS - 1)];
    const isGrowing = Math.floor(this.#added / 150) % 2 === 0;
    if (chance < 0.12 || row === NO_ROW) this.#add(NO_ROW);
    else if (chance < 0.17) this.#add(row);
    else if (chance < (isGrowing ? 0.19 : 0.33)) this.#remove(row);
    else if (chance < 0.36) this.#hold(row);
    else if (chance < 0.39) this.#release();
    else if (chance < 0.47) reader?.deliver(row);
    else if (chance < 0.6) for (let count = wholeNumber(random, 0, 8); count > 0; count--) reader?.take();
    else if (chance < 0.65) reader?.returnRows(this.#anyOf(reader));
    else if (chance < 0.655) this.#kill();
    else if (chance < 0.68) this.#ending = this.#ending.filter(({ exportedRows }) => exportedRows.endAll());
    else if (chance < 0.69) this.#dissolve();
    else if (chance < 0.72) this.#packAtOnce(row);
    else if (chance < 0.9) this.#pack(wholeNumber(random, 1, 12));
    else this.#compact();
  }

  textOf(row: number): string {
    return this.#texts.get(row) ?? assert.fail(`row ${row} is not in the model`);
  }

  placeOf(row: number): Place {
    const { table, packed, slabs } = this.owner;
    const isPacked = table.hasFlag(row, EntryFlag.Packed);
    const slab = (isPacked ? packed.slabs : slabs).slabOf(row);
    shareMemory(slab);
    const dictionary = isPacked ? packed.dictionaryOf(row) : undefined;
    if (dictionary) shareMemory(dictionary);
    return {
      bytes: slab.bytes,
      offset: table.offsetOf(row),
      storedBytes: table.storedBytesOf(row),
      length: table.lengthOf(row),
      dictionary: dictionary?.bytes,
    };
  }

  /** Every row has its bytes, on the main thread and where threads find them, and every chunk has one row. */
  check(): void {
    const { table, packed, slabs } = this.owner;
    const rows = { loose: [] as number[], packed: [] as number[] };
    for (let row = 0; row < this.#rowEnd; row++) {
      if (!table.has(row)) continue;
      const isPacked = table.hasFlag(row, EntryFlag.Packed);
      (isPacked ? rows.packed : rows.loose).push(row);
      assert.equal(this.#read(row), this.textOf(row), `row ${row}`);
    }
    this.#checkChunks(slabs, rows.loose);
    this.#checkChunks(packed.slabs, rows.packed);
    for (const reader of this.#readers) reader.check();
  }

  /** Ends everything: nothing is held. */
  end(): void {
    while (this.#cached.length > 0) this.#remove(this.#cached[0] ?? NO_ROW);
    while (this.#held.length > 0) this.#release();
    for (const reader of this.#readers) {
      while (reader.inbox.length > 0) reader.take();
      for (const row of reader.rows.keys()) reader.returnRows(row);
    }
    for (const { exportedRows } of this.#ending) while (exportedRows.endAll());
    while (this.#round) this.#pack(Infinity);
    while (this.owner.slabs.hasCompaction || this.owner.packed.slabs.hasCompaction) this.#compact();
    const { slabs, packed } = this.owner;
    const left = [slabs.liveBytes, slabs.heldBytes, packed.slabs.liveBytes, packed.slabs.heldBytes];
    assert.deepEqual(left, [0, 0, 0, 0]);
    assert.equal([...packed.dictionaries].length, 0);
  }

  /** @param previous the row of the object's state before, or `NO_ROW` */
  #add(previous: number): void {
    const { owner, random } = this;
    const { table } = owner;
    if (previous === NO_ROW && this.#cached.length >= OBJECTS_MAX) return;
    const noise = Array.from({ length: random() < 0.8 ? 2 : 10 }, () => random().toFixed(10));
    const text = 'common to all of its siblings '.repeat(random() < 0.8 ? 5 : 9) + noise.join('');
    const entry = newEntry(owner, {
      ...at(`pod-${String(this.#added++).padStart(5, '0')}`, 1),
      spec: { text },
    });
    const { row } = entry;
    entry.addReference();
    owner.table.closeEntry(entry);
    this.#rowEnd = Math.max(this.#rowEnd, row + 1);
    this.#texts.set(row, this.#read(row));
    this.#cached.push(row);
    if (previous === NO_ROW) return;
    table.setDictionary(row, table.dictionaryOf(previous));
    // A thread that has the state before receives the new one at once.
    for (const reader of this.#readers) if (reader.exportedRows.has(previous)) reader.deliver(row);
    this.#remove(previous);
  }

  /** As the merge does with a changed object beyond the bound; a row is packed once. */
  #packAtOnce(row: number): void {
    const { table, packed } = this.owner;
    if (table.hasFlag(row, EntryFlag.Packed) || table.hasFlag(row, EntryFlag.Unpackable)) return;
    packed.packAtOnce(row);
    if (table.hasFlag(row, EntryFlag.Packed)) this.packsAtOnce++;
  }

  #remove(row: number): void {
    this.#cached.splice(this.#cached.indexOf(row), 1);
    this.owner.table.dropReference(row);
  }

  /** Something has the row besides the cache: a notification that waits. */
  #hold(row: number): void {
    this.#held.push(row);
    this.owner.table.addReference(row);
  }

  #release(): void {
    const [row] = this.#held.splice(wholeNumber(this.random, 0, Math.max(0, this.#held.length - 1)), 1);
    if (row !== undefined) this.owner.table.dropReference(row);
  }

  /** A thread ends: its exportedRows end in steps. */
  #kill(): void {
    const index = wholeNumber(this.random, 0, READERS - 1);
    const [killed] = this.#readers.splice(index, 1, new ModelReader(this));
    if (!killed) return;
    killed.isDead = true;
    this.#ending.push(killed);
  }

  #dissolve(): void {
    for (const dictionary of this.owner.packed.dictionaries) {
      if (this.random() < 0.5) continue;
      dictionary.isDissolved = true;
      this.dissolved++;
    }
  }

  #pack(steps: number): void {
    this.#round ??= this.owner.packed.round();
    for (let step = 0; step < steps; step++) {
      this.packs++;
      if (!this.#round.next().done) continue;
      this.#round = undefined;
      return;
    }
  }

  #compact(): void {
    for (const slabs of [this.owner.slabs, this.owner.packed.slabs]) {
      if (!slabs.hasCompaction) continue;
      this.compactions++;
      slabs.compact();
    }
  }

  #anyOf({ rows }: ModelReader): number {
    const at = wholeNumber(this.random, 0, Math.max(0, rows.size - 1));
    return [...rows.keys()][at] ?? NO_ROW;
  }

  #read(row: number): string {
    const { table, packed, slabs } = this.owner;
    const length = table.lengthOf(row);
    if (table.hasFlag(row, EntryFlag.Packed)) return packed.unpacked(row).toString('latin1', 0, length);
    const start = table.offsetOf(row);
    return slabs.slabOf(row).bytes.toString('latin1', start, start + length);
  }

  #checkChunks(slabs: Slabs, rows: readonly number[]): void {
    const { table } = this.owner;
    const found = new Set<number>();
    for (const slab of new Set(rows.map((row) => slabs.slabOf(row)))) {
      for (const [chunk, row] of slab.rows.subarray(0, slab.used).entries()) {
        if (row < 0) continue;
        assert.ok(table.has(row) && slabs.slabOf(row) === slab, `row ${row} is in the list of another slab`);
        assert.equal(slab.sizeClass.chunkAt(table.offsetOf(row)), chunk);
        assert.ok(!found.has(row));
        found.add(row);
      }
    }
    assert.equal(found.size, rows.length, 'a row has no chunk');
    const bytes = rows.reduce((sum, row) => sum + table.storedBytesOf(row), 0);
    assert.equal(slabs.liveBytes, bytes);
    assert.ok(slabs.heldBytes >= bytes);
  }
}

function read({ bytes, offset, storedBytes, length, dictionary }: Place): string {
  if (!dictionary) return bytes.toString('latin1', offset, offset + length);
  const unpacked = unpack(viewedMemory(dictionary), bytes, offset, offset + storedBytes, SCRATCH);
  assert.equal(unpacked, length, 'unpacked to another length');
  return SCRATCH.bytes.toString('latin1', 0, length);
}
