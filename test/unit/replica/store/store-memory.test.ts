/** Packing runs after changes, in small pieces, and never without members or when it is off. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PackingRounds, SLAB_BYTES, SlabMemory } from '../../../../src/replica/store/store-memory.ts';
import type { Packable } from '../../../../src/replica/store/store-memory.ts';
import { FakeClock } from '../../../../src/tools/apiserver/testing/index.ts';

/** A clock on which every reading takes a tenth of a millisecond. */
class WorkingClock extends FakeClock {
  #worked = 0;

  override now(): number {
    this.#worked += 0.1;
    return super.now() + this.#worked;
  }
}

function member(steps: number): Packable & { rounds: number; steps: number; hasMore: boolean } {
  return {
    rounds: 0,
    steps: 0,
    hasMore: false,
    *round() {
      this.rounds++;
      for (let step = 0; step < steps; step++) {
        this.steps++;
        yield;
      }
      return this.hasMore;
    },
  };
}

function unexpected(error: unknown): void {
  throw error;
}

class Scene {
  readonly clock: FakeClock = new WorkingClock();
  readonly rounds: PackingRounds;
  merged = 0;
  /** They wait for the next merge. */
  readonly callbacks: (() => void)[] = [];
  ended = 0;
  /** Rounds after which memory is to be tidied once more. */
  untidied = 0;

  constructor(compressAfterMs: number = 2000) {
    const options = {
      clock: this.clock,
      compressAfterMs,
      merged: () => this.merged,
      afterNextMerge: (callback: () => void) => void this.callbacks.push(callback),
    };
    this.rounds = new PackingRounds(options, () => ++this.ended <= this.untidied);
  }

  change(count: number = 1): void {
    this.merged += count;
    for (const callback of this.callbacks.splice(0)) callback();
  }
}

describe('rounds of packing', () => {
  it('begin `compressAfterMs` after a change, and again as long after the end of a round that left something to do', () => {
    const scene = new Scene();
    const { clock, rounds } = scene;
    const one = member(3);
    one.hasMore = true;
    rounds.add(one, unexpected);
    scene.change();
    clock.advance(1999);
    assert.equal(one.rounds, 0);
    clock.advance(1);
    assert.deepEqual([one.rounds, one.steps], [1, 3]);
    assert.equal(scene.ended, 1);
    clock.advance(2000);
    assert.equal(one.rounds, 2);
  });

  it('end when a round leaves nothing to do: a cache at rest has no timer until the next change', () => {
    const scene = new Scene();
    const { clock, rounds } = scene;
    const [one, other] = [member(0), member(0)];
    rounds.add(one, unexpected);
    rounds.add(other, unexpected);
    assert.equal(clock.pending, 0, 'nothing was merged');
    scene.change();
    one.hasMore = true;
    clock.advance(2000);
    assert.deepEqual([one.rounds, other.rounds, clock.pending], [1, 1, 1]);
    one.hasMore = false;
    scene.untidied = 2;
    clock.advance(2000);
    assert.deepEqual([one.rounds, clock.pending], [2, 1], 'memory is to be tidied');
    clock.advance(2000);
    assert.deepEqual([one.rounds, clock.pending], [3, 0]);
    scene.change();
    clock.advance(2000);
    assert.equal(one.rounds, 4);
  });

  it('continue for a change that was merged while a round ran', () => {
    const scene = new Scene();
    const { clock, rounds } = scene;
    const one = member(10);
    rounds.add(one, unexpected);
    scene.change();
    clock.advance(2000);
    assert.equal(scene.ended, 0);
    scene.change();
    while (scene.ended === 0) clock.advance(2);
    clock.advance(2000);
    assert.equal(one.rounds, 2);
  });

  it('are divided into small pieces with pauses between them, over all members', () => {
    const scene = new Scene();
    const { clock, rounds } = scene;
    const [one, other] = [member(10), member(10)];
    rounds.add(one, unexpected);
    rounds.add(other, unexpected);
    scene.change();
    clock.advance(2000);
    let steps: number = one.steps + other.steps;
    assert.ok(steps > 0 && steps <= 5 && other.steps === 0);
    while (scene.ended === 0) {
      clock.advance(1);
      assert.equal(one.steps + other.steps, steps, 'a pause');
      clock.advance(1);
      const made = one.steps + other.steps - steps;
      assert.ok(made <= 5 && (made > 0 || scene.ended > 0));
      steps += made;
    }
    assert.deepEqual([one.steps, other.steps, scene.ended], [10, 10, 1]);
  });

  it('end with the last member, and begin with the next', () => {
    const scene = new Scene();
    const { clock, rounds } = scene;
    const [one, other] = [member(3), member(3)];
    rounds.add(one, unexpected);
    rounds.add(other, unexpected);
    scene.change();
    rounds.remove(one);
    other.hasMore = true;
    clock.advance(2000);
    assert.deepEqual([one.rounds, other.rounds], [0, 1]);
    rounds.remove(other);
    assert.equal(clock.pending, 0);
    clock.advance(10_000);
    assert.equal(other.rounds, 1);
    rounds.add(one, unexpected);
    scene.change();
    clock.advance(2000);
    assert.equal(one.rounds, 1);
  });

  it('go on without a member whose round has thrown', () => {
    const scene = new Scene();
    const { clock, rounds } = scene;
    const errors: unknown[] = [];
    const broken: Packable = {
      *round() {
        yield;
        throw new RangeError('defect');
      },
    };
    const other = member(3);
    other.hasMore = true;
    rounds.add(broken, (error) => errors.push(error));
    rounds.add(other, unexpected);
    scene.change();
    clock.advance(2000);
    while (scene.ended === 0) clock.advance(2);
    assert.deepEqual(errors, [new RangeError('defect')]);
    assert.deepEqual([other.rounds, scene.ended], [1, 1]);
    clock.advance(2000);
    assert.deepEqual([other.rounds, errors.length], [2, 1]);
  });

  it('never run when `compressAfterMs` is Infinity', () => {
    const scene = new Scene(Infinity);
    scene.rounds.add(member(1), unexpected);
    scene.change();
    assert.equal(scene.clock.pending, 0);
  });
});

describe('the memory of slabs', () => {
  it('C293 is collected, after 128 MiB, in each thread that has read it, for any length of a slab', () => {
    const memory = new SlabMemory();
    let collections = 0;
    memory.readers.add({ forget: () => undefined, collect: () => collections++ });
    const one = Buffer.from(new SharedArrayBuffer(2 ** 21));
    for (let given = 0; given < 63; given++) memory.give(one);
    // V8 counts what is not shared.
    for (let given = 0; given < 63; given++) memory.give(Buffer.allocUnsafeSlow(2 ** 21));
    assert.equal(collections, 0);
    memory.give(one);
    assert.equal(collections, 1);
    memory.give(one);
    assert.equal(collections, 1);
  });

  it('C293 waits for V8 up to a sixteenth of the memory, and for other slabs up to half of that', () => {
    const memory = new SlabMemory(SLAB_BYTES, 256 * SLAB_BYTES);
    let collections = 0;
    memory.readers.add({ forget: () => undefined, collect: () => collections++ });
    const slabs = Array.from({ length: 64 }, () => memory.take(SLAB_BYTES));
    for (const [at, slab] of slabs.entries()) {
      memory.give(slab);
      assert.ok(memory.freeBytes <= 8 * SLAB_BYTES, `${memory.freeBytes} bytes are free`);
      if (at < 16) assert.equal(collections, 0);
    }
    assert.ok(collections >= 3, `${collections} collections`);
  });

  it('is tidied once more after a call that found memory in use, until the free memory is dropped', () => {
    const memory = new SlabMemory();
    assert.equal(memory.tidy(), false, 'nothing to drop');
    const slabs = Array.from({ length: 20 }, () => memory.take(SLAB_BYTES));
    for (const slab of slabs) memory.give(slab);
    assert.equal(memory.tidy(), true, 'it was taken a moment ago');
    assert.ok(memory.freeBytes > 0);
    assert.equal(memory.tidy(), false);
    assert.equal(memory.freeBytes, 0);
  });

  it('is forgotten by threads when it is dropped, and not while it waits for another slab', () => {
    const memory = new SlabMemory();
    const forgotten: unknown[] = [];
    memory.readers.add({ forget: (buffer) => forgotten.push(buffer), collect: () => undefined });
    const slabs = Array.from({ length: 20 }, () => memory.take(SLAB_BYTES));
    for (const slab of slabs) assert.equal(memory.give(slab), true);
    assert.equal(memory.take(SLAB_BYTES), slabs.pop());
    assert.deepEqual(forgotten, []);
    memory.tidy();
    memory.tidy();
    assert.deepEqual(new Set(forgotten), new Set(slabs.map(({ buffer }) => buffer)));
  });
});
