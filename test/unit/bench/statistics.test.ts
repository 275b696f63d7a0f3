/** The numbers that summarise several runs, and the direction of ratios. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ratioOf, summarise } from '../../../bench/statistics.ts';

describe('a summary of runs', () => {
  it('has the middle run, the least and the most, in any order of the runs', () => {
    assert.deepEqual(summarise([30, 10, 20]), { median: 20, min: 10, max: 30 });
  });

  it('takes the mean of the two in the middle of an even number', () => {
    assert.deepEqual(summarise([4, 1, 3, 2]), { median: 2.5, min: 1, max: 4 });
  });

  it('is the run itself when there is one, and nothing when there is none', () => {
    assert.deepEqual(summarise([7]), { median: 7, min: 7, max: 7 });
    assert.equal(summarise([]), undefined);
  });
});

describe('a ratio to a peer', () => {
  it('is above 1 for a higher rate and for a lower time', () => {
    assert.equal(ratioOf([200], [100], true), 2);
    assert.equal(ratioOf([5], [10], false), 2);
    assert.equal(ratioOf([50], [100], true), 0.5);
  });

  it('is the median of the ratios within rounds, since neighbouring runs saw the same machine', () => {
    // The machine got four times slower in the second round, for both.
    assert.equal(ratioOf([400, 100, 400], [100, 25, 80], true), 4);
  });

  it('leaves out rounds in which one of them failed', () => {
    assert.equal(ratioOf([10, undefined, 30], [undefined, 20, 10], true), 3);
    assert.equal(ratioOf([10, undefined], [undefined, 20], true), null);
  });

  it('is null when it would not be a number', () => {
    assert.equal(ratioOf([10], [0], true), null);
    assert.equal(ratioOf([], [], false), null);
  });
});
