/** Stamps of sampled events: step by step, in seeded interleavings of both sides, and on real threads. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { SAMPLED_EVERY, isSampled } from '../../../src/shared/record/delta.ts';
import { allocateWords, Word } from '../../../src/shared/ring/word.ts';
import { StampReader, StampWriter, allocateStamps } from '../../../src/shared/stamps.ts';
import type { Stamp } from '../../../src/shared/stamps.ts';
import { FakeClock } from '../reflector/fake-clock.ts';
import { seededRandom, wholeNumber } from './ring/random.ts';
import { FIRST_SEQUENCE, LOG_BYTES, CELLS, stampOf } from './stamping-thread.ts';
import type { StampingTask } from './stamping-thread.ts';

const SEEDS = 20;
const STEPS = 2000;
const STAMPS = 2000;
/** Sequences within which the threads must have had that many stamps. */
const SEQUENCES_MAX = 2 ** 24;

describe('a stamp', () => {
  test('has the times of the read and of the commit, from the commit on', () => {
    const clock = new FakeClock(7);
    const { writer, reader } = setUp(clock);
    writer.add(64, 5);
    assert.equal(reader.read(64), undefined);
    writer.commit();
    assert.deepEqual(reader.read(64), { readMs: 5, committedMs: 7 });
    clock.advance(1);
    writer.commit();
    assert.deepEqual(reader.read(64), { readMs: 5, committedMs: 7 }, 'a stamp is committed once');
  });

  test('exists for one sequence in 64, if something was added for it', () => {
    const { writer, reader } = setUp(new FakeClock(7));
    const sampled: number[] = [];
    for (let sequence = 0; sequence < 4 * SAMPLED_EVERY; sequence++)
      if (isSampled(sequence)) sampled.push(sequence);
    assert.deepEqual(sampled, [0, 64, 128, 192]);
    writer.add(64, 5);
    writer.commit();
    assert.deepEqual(
      sampled.filter((sequence) => reader.read(sequence)),
      [64],
    );
  });

  test('of a sequence does not exist while its cell belongs to one that is not merged', () => {
    const { writer, reader, merged } = setUp(new FakeClock(7));
    const later = SAMPLED_EVERY * (CELLS + 1);
    writer.add(64, 5);
    writer.commit();
    writer.add(later, 6);
    writer.commit();
    assert.deepEqual(reader.read(64), { readMs: 5, committedMs: 7 });
    assert.equal(reader.read(later), undefined);
    merged.store(64);
    writer.add(later, 6);
    writer.commit();
    assert.equal(reader.read(64), undefined);
    assert.deepEqual(reader.read(later), { readMs: 6, committedMs: 7 });
  });

  test('of a dead reflector is not taken for one of its successor', () => {
    const { writer, reader, merged, buffer } = setUp(new FakeClock(7));
    writer.add(64, 5);
    writer.commit();
    const successor = new StampWriter(buffer, merged, new FakeClock(9));
    successor.commit();
    assert.equal(reader.read(64), undefined, 'its commit may be what killed it');
    successor.add(64, 8);
    successor.commit();
    assert.deepEqual(reader.read(64), { readMs: 8, committedMs: 9 });
  });

  test('of sequence 0 exists when it was written, and not in new memory', () => {
    const { writer, reader } = setUp(new FakeClock(7), 2 ** 32 - 10);
    assert.equal(reader.read(0), undefined);
    writer.add(0, 5);
    writer.commit();
    assert.deepEqual(reader.read(0), { readMs: 5, committedMs: 7 });
  });
});

describe('stamps of both sides', () => {
  test('agree in every seeded interleaving, over the wrap of sequences and the deaths of reflectors', () => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const { read, refused } = interleaved(seed);
      assert.ok(read > 0 && refused > 0, `seed ${seed}: ${read} stamps were read, ${refused} had no cell`);
    }
  });

  test('agree on real threads, over the wrap of sequences', async (context) => {
    const words = allocateWords(2);
    const task: StampingTask = { stamps: allocateStamps(LOG_BYTES), words };
    const [committed, merged] = [0, 1].map((line) => new Word(new Int32Array(words), line));
    assert.ok(committed && merged);
    for (const word of [committed, merged]) word.store(FIRST_SEQUENCE);
    const worker = new Worker(new URL('stamping-thread.js', import.meta.url), { workerData: task });
    context.after(() => worker.terminate());
    const reader = new StampReader(task.stamps);
    let sequence = FIRST_SEQUENCE;
    let stamps = 0;
    for (let sequences = 0; stamps < STAMPS && sequences < SEQUENCES_MAX;) {
      const end = committed.load();
      if (end === sequence) await new Promise((resolve) => setImmediate(resolve));
      while (sequence !== end) {
        sequence = (sequence + 1) >>> 0;
        sequences++;
        const stamp = isSampled(sequence) ? reader.read(sequence) : undefined;
        if (stamp) assert.deepEqual(stamp, stampOf(sequence));
        if (stamp) stamps++;
      }
      merged.store(sequence);
    }
    assert.ok(stamps >= STAMPS);
    assert.ok(sequence < FIRST_SEQUENCE, 'the sequences have wrapped');
  });
});

interface Sides {
  readonly buffer: SharedArrayBuffer;
  readonly merged: Word;
  readonly writer: StampWriter;
  readonly reader: StampReader;
}

/** Returns both sides of a few cells. @param last the last sequence that was merged */
function setUp(clock: FakeClock, last: number = 0): Sides {
  const buffer = allocateStamps(LOG_BYTES);
  const merged = new Word(new Int32Array(allocateWords(1)), 0);
  merged.store(last);
  return { buffer, merged, writer: new StampWriter(buffer, merged, clock), reader: new StampReader(buffer) };
}

/** Runs a reflector and a main thread in turns and compares what is read with what was written. */
function interleaved(seed: number): { read: number; refused: number } {
  const random = seededRandom(seed);
  const clock = new FakeClock();
  const first = 2 ** 32 - wholeNumber(random, 1, STEPS * 20);
  const { buffer, merged, writer: original, reader } = setUp(clock, first);
  let writer = original;
  /** The next sequence of each side; sequences below `committed` are visible. */
  let [added, committed, taken] = [first + 1, first + 1, first + 1];
  const expected = new Map<number, Stamp>();
  let pending = new Map<number, number>();
  let [read, refused] = [0, 0];
  for (let step = 0; step < STEPS; step++) {
    clock.advance(1);
    const chance = random();
    if (chance < 0.4) {
      for (const end = added + wholeNumber(random, 1, 150); added < end; added++) {
        const sequence = added >>> 0;
        // Control records and items of lists have no stamp.
        if (random() < 0.1 || !isSampled(sequence)) continue;
        writer.add(sequence, clock.now());
        const hasCell = added - taken < CELLS * SAMPLED_EVERY;
        if (hasCell) pending.set(sequence, clock.now());
        else refused++;
      }
    } else if (chance < 0.6) {
      writer.commit();
      for (const [sequence, readMs] of pending) expected.set(sequence, { readMs, committedMs: clock.now() });
      pending.clear();
      // A reflector may die between its stamps and the commit of their sequences.
      if (random() < 0.9) committed = added;
    } else if (chance < 0.95) {
      for (const end = Math.min(committed, taken + wholeNumber(random, 1, 300)); taken < end; taken++) {
        const sequence = taken >>> 0;
        const stamp = isSampled(sequence) ? reader.read(sequence) : undefined;
        assert.deepEqual(stamp, expected.get(sequence), `seed ${seed}, sequence ${sequence}`);
        if (stamp) read++;
        expected.delete(sequence);
      }
      merged.store(taken - 1);
    } else if (taken === committed) {
      writer = new StampWriter(buffer, merged, clock);
      added = committed;
      pending = new Map();
      expected.clear();
    }
  }
  assert.ok(added > 2 ** 32, 'the sequences have wrapped');
  return { read, refused };
}
