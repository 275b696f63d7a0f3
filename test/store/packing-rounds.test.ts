/** When objects are packed: after a while, in small pieces, and not at all when nobody is there or wants it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PackingRounds } from '../../src/store/packing-rounds.ts';
import type { Packable } from '../../src/store/packing-rounds.ts';
import { FakeClock } from '../../src/testing/index.ts';

/** A clock on which every look takes a tenth of a millisecond. */
class WorkingClock extends FakeClock {
  #worked = 0;

  override now(): number {
    this.#worked += 0.1;
    return super.now() + this.#worked;
  }
}

function member(steps: number): Packable & { rounds: number; steps: number } {
  return {
    rounds: 0,
    steps: 0,
    *round() {
      this.rounds++;
      for (let step = 0; step < steps; step++) {
        this.steps++;
        yield;
      }
    },
  };
}

function scene(afterMs: number = 2000): {
  clock: FakeClock;
  rounds: PackingRounds;
  told: string[];
} {
  const clock = new WorkingClock();
  const told: string[] = [];
  const rounds = new PackingRounds({
    clock,
    afterMs,
    worked: () => told.push('worked'),
    ended: () => told.push('ended'),
  });
  return { clock, rounds, told };
}

describe('rounds of packing', () => {
  it('come after `packAfterMs`, and again so long after the end of the one before', () => {
    const { clock, rounds, told } = scene();
    const one = member(3);
    rounds.add(one);
    clock.advance(1999);
    assert.equal(one.rounds, 0);
    clock.advance(1);
    assert.deepEqual([one.rounds, one.steps], [1, 3]);
    assert.deepEqual(told, ['worked', 'ended']);
    clock.advance(2000);
    assert.equal(one.rounds, 2);
  });

  it('are of small pieces with pauses between them, over all members', () => {
    const { clock, rounds, told } = scene();
    const [one, other] = [member(10), member(10)];
    rounds.add(one);
    rounds.add(other);
    clock.advance(2000);
    assert.ok(one.steps > 0 && one.steps < 10 && other.steps === 0);
    for (let pieces = 0; pieces < 10; pieces++) {
      const before: number = one.steps + other.steps;
      clock.advance(1);
      assert.equal(one.steps + other.steps, before, 'a pause of 2 ms');
      clock.advance(1);
      if (told.includes('ended')) break;
      assert.ok(one.steps + other.steps > before);
    }
    assert.deepEqual([one.steps, other.steps, told.at(-1)], [10, 10, 'ended']);
    assert.equal(told.filter((what) => what === 'ended').length, 1);
  });

  it('end with the last member, and begin with the next', () => {
    const { clock, rounds } = scene();
    const [one, other] = [member(3), member(3)];
    rounds.add(one);
    rounds.add(other);
    rounds.remove(one);
    clock.advance(2000);
    assert.deepEqual([one.rounds, other.rounds], [0, 1]);
    rounds.remove(other);
    assert.equal(clock.pending, 0);
    clock.advance(10_000);
    assert.equal(other.rounds, 1);
    rounds.add(one);
    clock.advance(2000);
    assert.equal(one.rounds, 1);
  });

  it('do not come at all when `packAfterMs` is Infinity', () => {
    const { clock, rounds } = scene(Infinity);
    rounds.add(member(1));
    assert.equal(clock.pending, 0);
  });
});
