/** Packing runs after a while, in small pieces, and never without members or when it is off. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PackingRounds } from '../../../../src/replica/store/store-memory.ts';
import type { Packable } from '../../../../src/replica/store/store-memory.ts';
import { FakeClock } from '../../../../src/apiserver/testing/index.ts';

/** A clock on which every reading takes a tenth of a millisecond. */
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

class Scene {
  readonly clock: FakeClock = new WorkingClock();
  readonly rounds: PackingRounds;
  merged = 0;
  ended = 0;

  constructor(packAfterMs: number = 2000) {
    const options = { clock: this.clock, packAfterMs, merged: () => this.merged };
    this.rounds = new PackingRounds(options, () => void this.ended++);
  }
}

describe('rounds of packing', () => {
  it('begin `packAfterMs` after the start, and again as long after the end of the previous round', () => {
    const scene = new Scene();
    const { clock, rounds } = scene;
    const one = member(3);
    rounds.add(one);
    clock.advance(1999);
    assert.equal(one.rounds, 0);
    clock.advance(1);
    assert.deepEqual([one.rounds, one.steps], [1, 3]);
    assert.equal(scene.ended, 1);
    clock.advance(2000);
    assert.equal(one.rounds, 2);
  });

  for (const [what, isBusy, pauseMs, stepsMax] of [
    ['are divided into small pieces with pauses between them, over all members', false, 2, 5],
    ['are divided into smaller pieces with longer pauses while changes are merged', true, 6, 2],
  ] as const) {
    it(what, () => {
      const scene = new Scene();
      const { clock, rounds } = scene;
      const [one, other] = [member(10), member(10)];
      rounds.add(one);
      rounds.add(other);
      if (isBusy) scene.merged++;
      clock.advance(2000);
      let steps: number = one.steps + other.steps;
      assert.ok(steps > 0 && steps <= stepsMax && other.steps === 0);
      while (scene.ended === 0) {
        if (isBusy) scene.merged++;
        clock.advance(pauseMs - 1);
        assert.equal(one.steps + other.steps, steps, 'a pause');
        clock.advance(1);
        const made = one.steps + other.steps - steps;
        assert.ok(made <= stepsMax && (made > 0 || scene.ended > 0));
        steps += made;
      }
      assert.deepEqual([one.steps, other.steps, scene.ended], [10, 10, 1]);
    });
  }

  it('end with the last member, and begin with the next', () => {
    const { clock, rounds } = new Scene();
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

  it('never run when `packAfterMs` is Infinity', () => {
    const { clock, rounds } = new Scene(Infinity);
    rounds.add(member(1));
    assert.equal(clock.pending, 0);
  });
});
