/** Fences, their descendants and their view from another thread. Their clocks are the test's; the shared time is the machine's. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FakeClock } from '../../../src/tools/apiserver/testing/index.ts';
import {
  Fence,
  LinkedController,
  everyFence,
  fenceMemoryOf,
  followFence,
} from '../../../src/shared/fence.ts';

const HOUR_MS = 3_600_000;

describe('a fence', () => {
  it('C310 is over when its time has come and its signal is asked: no timer and no message is needed', () => {
    const clock = new FakeClock();
    const fence = new Fence(clock, clock.now() + 1000, () => 'over');
    clock.advance(999);
    assert.equal(fence.signal.aborted, false);
    fence.extend(clock.now() + 1000);
    clock.advance(999);
    assert.equal(fence.signal.aborted, false);
    clock.advance(1);
    assert.throws(() => fence.signal.throwIfAborted(), /over/);
    assert.equal(fence.signal.reason, 'over');
  });

  it('never opens again: a renewal that comes after its end has no effect, nor has an earlier time', () => {
    const clock = new FakeClock();
    const fence = new Fence(clock, clock.now() + 1000, () => 'over');
    fence.extend(clock.now() + 500);
    clock.advance(500);
    assert.equal(fence.signal.aborted, false);
    clock.advance(500);
    fence.extend(clock.now() + 9000);
    assert.equal(fence.signal.aborted, true);
  });

  it('has the reason of the abort that its owner makes when asked', () => {
    const clock = new FakeClock();
    const fence: Fence = new Fence(clock, clock.now() + 1000, () => fence.abort('lost'));
    clock.advance(1000);
    fence.signal.addEventListener('abort', () => assert.equal(fence.signal.reason, 'lost'));
    assert.throws(() => fence.signal.throwIfAborted(), /lost/);
  });
});

describe('a composed signal', () => {
  it('C470 has the memory of the only fence, and of none when there are several', () => {
    const clock = new FakeClock();
    const fence = new Fence(clock, clock.now() + 1000, () => 'over');
    const composed = AbortSignal.any([fence.signal]);
    assert.equal(fenceMemoryOf(composed), fenceMemoryOf(fence.signal));
    const other = new Fence(clock, clock.now() + 1000, () => 'over');
    assert.equal(fenceMemoryOf(composed), undefined);
    clock.advance(1000);
    assert.ok(everyFence.aborted === false && composed.aborted && other.signal.aborted);
    assert.equal(fenceMemoryOf(composed), undefined);
  });

  it('C470 ends with the fence of its thread until that is no longer followed', () => {
    const clock = new FakeClock();
    const fence = new Fence(clock, clock.now() + HOUR_MS, () => 'over');
    const memory = fenceMemoryOf(fence.signal);
    assert.ok(memory);
    const [there, later] = [new AbortController(), new AbortController()];
    const composed = [there, later].map(({ signal }) => AbortSignal.any([signal]));
    followFence(memory, there);
    followFence(memory, later)();
    fence.abort('lost');
    void everyFence.aborted;
    assert.deepEqual(
      composed.map(({ aborted }) => aborted),
      [true, false],
    );
  });
});

describe('a linked controller', () => {
  it('C310 asks its parents, so a descendant of a fence also ends with the time', () => {
    const clock = new FakeClock();
    const fence = new Fence(clock, clock.now() + 1000, () => 'over');
    const quiet = new AbortController();
    using child = new LinkedController(quiet.signal, fence.signal);
    using grandchild = new LinkedController(child.signal);
    assert.equal(fenceMemoryOf(grandchild.signal), fenceMemoryOf(fence.signal));
    clock.advance(1000);
    assert.equal(grandchild.signal.aborted, true);
    assert.equal(grandchild.signal.reason, 'over');
  });

  it('is aborted with any parent at once, by itself, and by no parent after its end', () => {
    const parent = new AbortController();
    const reasons: unknown[] = [];
    using first = new LinkedController(parent.signal);
    first.signal.addEventListener('abort', () => reasons.push(first.signal.reason));
    const second = new LinkedController(parent.signal);
    second[Symbol.dispose]();
    parent.abort('parent');
    using third = new LinkedController(parent.signal);
    using fourth = new LinkedController();
    fourth.abort('itself');
    assert.deepEqual([...reasons, third.signal.reason, fourth.signal.reason], ['parent', 'parent', 'itself']);
  });
});

describe('a runtime whose controllers ask their own signal while they abort, as Deno does', () => {
  /** Returns `AbortController.prototype.abort` with such a question. */
  function asking(abort: (this: AbortController, reason?: unknown) => void): typeof abort {
    return function (this: AbortController, reason?: unknown): void {
      if (!this.signal.aborted) abort.call(this, reason);
    };
  }

  it('ends a fence and its descendants once, each with the reason of its parent', (context) => {
    const { prototype } = AbortController;
    context.mock.method(prototype, 'abort', asking(Reflect.get(prototype, 'abort')));
    const clock = new FakeClock();
    const fence = new Fence(clock, clock.now() + 1000, () => 'over');
    using child = new LinkedController(fence.signal);
    using grandchild = new LinkedController(child.signal);
    const reasons: unknown[] = [];
    for (const { signal } of [child, grandchild])
      signal.addEventListener('abort', () => reasons.push(signal.reason));
    clock.advance(1000);
    assert.equal(fence.signal.aborted, true);
    assert.deepEqual(reasons, ['over', 'over']);
    assert.equal(grandchild.signal.aborted, true);
  });

  it('ends a controller that is aborted although its parent is over already', (context) => {
    const { prototype } = AbortController;
    context.mock.method(prototype, 'abort', asking(Reflect.get(prototype, 'abort')));
    const clock = new FakeClock();
    const fence = new Fence(clock, clock.now() + 1000, () => 'over');
    using child = new LinkedController(fence.signal);
    clock.advance(1000);
    child.abort('itself');
    assert.deepEqual([child.signal.aborted, child.signal.reason], [true, 'over']);
  });
});

describe('the signal of another thread', () => {
  it('C310 ends with the time in shared memory, which renewals move', () => {
    const clock = new FakeClock();
    const fence = new Fence(clock, clock.now() + HOUR_MS, () => 'over');
    const memory = fenceMemoryOf(fence.signal);
    assert.ok(memory);
    const there = new AbortController();
    const unfollow = followFence(memory, there);
    assert.equal(there.signal.aborted, false);
    fence.extend(clock.now() + 2 * HOUR_MS);
    assert.equal(there.signal.aborted, false);
    // As much later as the machine's clock is: the time has come.
    new BigInt64Array(memory)[0] = process.hrtime.bigint();
    assert.throws(() => there.signal.throwIfAborted(), { name: 'AbortError' });
    unfollow();
    const late = new AbortController();
    followFence(memory, late);
    assert.equal(late.signal.aborted, true);
  });

  it('is aborted by an end of the fence before its time, and its listeners are called without a question', async () => {
    const clock = new FakeClock();
    const fence = new Fence(clock, clock.now() + 1, () => 'over');
    const memory = fenceMemoryOf(fence.signal);
    assert.ok(memory);
    const there = new AbortController();
    followFence(memory, there);
    // The timer of the fence keeps no process alive.
    const alive = setInterval(() => undefined, HOUR_MS);
    await new Promise((resolve) => there.signal.addEventListener('abort', resolve));
    clearInterval(alive);
    const lost = new Fence(clock, clock.now() + HOUR_MS, () => 'over');
    lost.abort('lost');
    const late = new AbortController();
    followFence(fenceMemoryOf(lost.signal) ?? memory, late);
    assert.equal(late.signal.aborted, true);
  });
});
