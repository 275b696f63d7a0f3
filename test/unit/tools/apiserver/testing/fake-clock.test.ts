/** Fake time advances only by a test, and runs the timers that come due. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FakeClock } from '../../../../../src/tools/apiserver/testing/index.ts';

describe('a fake clock', () => {
  it('stands still until it is advanced', () => {
    const clock = new FakeClock(5);
    const calls: number[] = [];
    clock.schedule(10, () => calls.push(clock.now()));
    assert.equal(clock.now(), 5);
    clock.advance(9);
    assert.deepEqual([clock.now(), calls, clock.pending, clock.nextDelayMs], [14, [], 1, 1]);
    clock.advance(1);
    assert.deepEqual([calls, clock.pending, clock.nextDelayMs], [[15], 0, undefined]);
  });

  it('runs timers by their time and then by their age, also those that timers make, each at its own time', () => {
    const clock = new FakeClock(0);
    const calls: string[] = [];
    const call = (name: string) => () => calls.push(`${name}@${clock.now()}`);
    clock.schedule(20, call('late'));
    clock.schedule(10, call('first'));
    clock.schedule(10, call('second'));
    clock.schedule(15, () => clock.schedule(3, call('made')));
    clock.advance(30);
    assert.deepEqual(calls, ['first@10', 'second@10', 'made@18', 'late@20']);
    assert.equal(clock.now(), 30);
  });

  it('never runs a timer that was cancelled', () => {
    const clock = new FakeClock();
    clock.schedule(1, () => assert.fail('it was cancelled'))();
    assert.equal(clock.pending, 0);
    clock.advance(10);
  });

  it('advances to the next timer and runs only that one', () => {
    const clock = new FakeClock(0);
    const calls: number[] = [];
    clock.schedule(7, () => calls.push(7));
    clock.schedule(7, () => calls.push(8));
    assert.equal(clock.advanceToNext(), true);
    assert.deepEqual([calls, clock.now()], [[7], 7]);
    assert.equal(clock.advanceToNext(), true);
    assert.equal(clock.advanceToNext(), false);
    assert.deepEqual([calls, clock.now()], [[7, 8], 7]);
  });

  it('resolves when the given number of timers wait', async () => {
    const clock = new FakeClock();
    let waited = false;
    const two = clock.waitForTimers(2).then(() => (waited = true));
    clock.schedule(1, () => undefined);
    await clock.waitForTimers();
    assert.equal(waited, false);
    clock.schedule(1, () => undefined);
    await two;
  });
});
