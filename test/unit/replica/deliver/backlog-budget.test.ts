/** An exceeded backlog budget: which handlers coalesce, and which are reported. */
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { BacklogBudget } from '../../../../src/replica/deliver/backlog-budget.ts';
import { FakeClock } from '../../../../src/tools/apiserver/testing/fake-clock.ts';
import type { BudgetedListener } from '../../../../src/replica/deliver/backlog-budget.ts';

/** A listener whose figures a test sets. */
class Holder implements BudgetedListener {
  heldBytes = 0;
  coalesced = 0;
  /** Bytes that merging would free. */
  mergeable = 0;
  hasMore = false;
  reported = 0;

  coalesce(): boolean {
    if (this.mergeable > 0) this.coalesced++;
    this.heldBytes -= this.mergeable;
    this.mergeable = 0;
    return this.hasMore;
  }

  readonly onPressure = (): void => void this.reported++;
}

let budget: BacklogBudget;
let clock: FakeClock;
let slow: Holder;
let prompt: Holder;

beforeEach(() => {
  clock = new FakeClock();
  budget = new BacklogBudget(1000, clock);
  slow = new Holder();
  prompt = new Holder();
});

function run(): boolean {
  return budget.runOnce([slow, prompt], slow.heldBytes + prompt.heldBytes);
}

describe('a budget of backlogs', () => {
  test('C179 coalesces only for handlers that hold much, and has more to do until these are coalesced', () => {
    slow.heldBytes = 1100;
    prompt.heldBytes = 10;
    slow.mergeable = prompt.mergeable = 10;
    slow.hasMore = true;
    assert.equal(run(), true);
    assert.deepEqual([slow.coalesced, prompt.coalesced], [1, 0]);
    slow.hasMore = false;
    assert.equal(run(), false);
  });

  test('C179 reports a handler at most once a minute, however often it exceeds and catches up', () => {
    const exceed = (): void => {
      slow.heldBytes = 1100;
      slow.mergeable = 200;
      run();
    };
    exceed();
    clock.advance(59_999);
    exceed();
    assert.deepEqual([slow.coalesced, slow.reported, prompt.reported], [2, 1, 0]);
    clock.advance(1);
    exceed();
    assert.equal(slow.reported, 2);
  });

  test('C179 does not report a handler whose notifications could not be merged', () => {
    slow.heldBytes = 1100;
    run();
    assert.equal(slow.reported, 0);
  });
});
