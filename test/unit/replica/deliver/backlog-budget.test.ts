/** A short backlog budget: which handlers coalesce, when merging pauses, which handler is removed. */
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { BacklogBudget } from '../../../../src/replica/deliver/backlog-budget.ts';
import type { BudgetedListener } from '../../../../src/replica/deliver/backlog-budget.ts';
import type { BacklogPressure } from '../../../../src/replica/deliver/backlog-step.ts';
import { FakeClock } from '../../../../src/tools/apiserver/testing/fake-clock.ts';

const LIMITS = { backlogBytesMax: 1000, backlogTimeoutMs: 60_000 };

/** A listener whose figures a test sets. */
class Holder implements BudgetedListener {
  heldBytes = 0;
  ageMs = 1000;
  coalesced = 0;
  /** Bytes that merging would free. */
  mergeable = 0;
  readonly pressures: BacklogPressure['kind'][] = [];

  coalesce(): boolean {
    if (this.mergeable > 0) this.coalesced++;
    this.heldBytes -= this.mergeable;
    this.mergeable = 0;
    return false;
  }

  readonly onPressure = ({ kind }: BacklogPressure): void => {
    this.pressures.push(kind);
    if (kind === 'overflow') this.heldBytes = 0;
  };
}

let clock: FakeClock;
let kicks: number;
let budget: BacklogBudget;
let slow: Holder;
let prompt: Holder;

beforeEach(() => {
  clock = new FakeClock(0);
  kicks = 0;
  budget = new BacklogBudget({ clock, limits: LIMITS, requestRun: () => kicks++ });
  slow = new Holder();
  prompt = new Holder();
});

/** Advances the clock, then runs turns until the budget has no more to do, as the drain does. */
function turns(afterMs: number = 0): void {
  clock.advance(afterMs);
  for (let turn = 0; slow.heldBytes + prompt.heldBytes > budget.idleBytes; turn++) {
    if (!budget.runOnce([slow, prompt])) return;
    assert.ok(turn < 10, 'the turns do not end');
  }
}

describe('a budget of backlogs', () => {
  test('C179 does nothing while half of it is free', () => {
    slow.heldBytes = 500;
    slow.mergeable = 100;
    turns();
    assert.deepEqual([slow.coalesced, slow.pressures, budget.mayMerge], [0, [], true]);
  });

  test('C179 coalesces only for handlers that hold much, and reports each once', () => {
    slow.heldBytes = 600;
    prompt.heldBytes = 10;
    slow.mergeable = prompt.mergeable = 10;
    turns();
    assert.deepEqual([slow.coalesced, prompt.coalesced], [1, 0]);
    slow.mergeable = 10;
    turns();
    assert.deepEqual([slow.coalesced, slow.pressures, prompt.pressures], [2, ['coalescing'], []]);
    slow.heldBytes = 100;
    turns();
    slow.heldBytes = 600;
    slow.mergeable = 10;
    turns();
    assert.deepEqual(slow.pressures, ['coalescing', 'coalescing'], 'once in each episode');
  });

  test('counts the time in which nothing is merged', () => {
    slow.heldBytes = 1500;
    turns();
    assert.deepEqual([budget.mayMerge, budget.pausedMs], [false, 0]);
    clock.advance(300);
    assert.equal(budget.pausedMs, 300);
    const unwaive = budget.waive();
    clock.advance(300);
    assert.equal(budget.pausedMs, 300, 'an informer that ends merges everything');
    unwaive();
    slow.heldBytes = 0;
    turns(100);
    clock.advance(300);
    assert.equal(budget.pausedMs, 400);
  });

  test('C179 does not coalesce for a handler that had no time yet, and reports no bursts', () => {
    slow.heldBytes = 1500;
    slow.mergeable = 1400;
    slow.ageMs = 999;
    turns();
    assert.deepEqual([slow.coalesced, budget.mayMerge], [0, false]);
    slow.ageMs = 1999;
    turns(1000);
    assert.deepEqual([slow.coalesced, slow.pressures, budget.mayMerge], [1, ['coalescing'], true]);
  });

  test('C180 takes no records at its limit, until a quarter of it is free', () => {
    slow.heldBytes = 1000;
    turns();
    assert.deepEqual([budget.mayMerge, slow.pressures, kicks], [false, [], 0]);
    clock.advance(1000);
    assert.equal(kicks, 1, 'only the timer requests a turn');
    turns();
    assert.deepEqual([budget.mayMerge, slow.pressures, prompt.pressures], [false, ['paused'], []]);
    slow.heldBytes = 750;
    turns();
    assert.equal(budget.mayMerge, false);
    slow.heldBytes = 749;
    turns();
    assert.equal(budget.mayMerge, true);
    clock.advance(LIMITS.backlogTimeoutMs);
    assert.equal(kicks, 1, 'the timer is cancelled');
  });

  test('C180 coalesces before it takes no records', () => {
    slow.heldBytes = 5000;
    slow.mergeable = 4500;
    turns();
    assert.deepEqual([budget.mayMerge, slow.pressures], [true, ['coalescing']]);
  });

  test('C180 pauses nothing while an informer ends', () => {
    slow.heldBytes = 1000;
    turns();
    const unwaive = budget.waive();
    assert.deepEqual([budget.mayMerge, kicks], [true, 1]);
    unwaive();
    assert.equal(budget.mayMerge, false);
  });

  test('C181 removes the handler that holds most when nothing has changed for too long, and the others continue', () => {
    slow.heldBytes = 900;
    prompt.heldBytes = 100;
    turns();
    turns(1000);
    turns(LIMITS.backlogTimeoutMs - 1001);
    assert.deepEqual([slow.pressures, kicks], [['paused'], 1]);
    clock.advance(1);
    assert.equal(kicks, 2, 'only the timer requests a turn');
    turns();
    assert.deepEqual([slow.pressures, prompt.pressures], [['paused', 'overflow'], []]);
    assert.equal(budget.mayMerge, true);
  });

  test('C181 sets a timer again that has fired too early', () => {
    const delays: number[] = [];
    let fire = (): void => {};
    const early = {
      now: () => clock.now(),
      schedule: (delayMs: number, callback: () => void) => {
        delays.push(delayMs);
        fire = callback;
        return () => {};
      },
    };
    budget = new BacklogBudget({ clock: early, limits: LIMITS, requestRun: () => kicks++ });
    slow.heldBytes = 1000;
    turns();
    clock.advance(990);
    fire();
    turns();
    assert.deepEqual([delays, kicks, slow.pressures], [[1000, 10], 1, []]);
    clock.advance(10);
    fire();
    turns();
    assert.deepEqual([slow.pressures, delays.at(-1)], [['paused'], LIMITS.backlogTimeoutMs - 1000]);
  });

  test('C181 gives the next handler the same time', () => {
    slow.heldBytes = 2000;
    prompt.heldBytes = 1500;
    turns();
    turns(1000);
    turns(LIMITS.backlogTimeoutMs - 1000);
    assert.deepEqual([slow.pressures, prompt.pressures], [['paused', 'overflow'], ['paused']]);
    turns(LIMITS.backlogTimeoutMs - 1);
    assert.deepEqual(prompt.pressures, ['paused']);
    turns(1);
    assert.deepEqual(prompt.pressures, ['paused', 'overflow']);
    assert.equal(budget.mayMerge, true);
  });
});
