/** A signal with a time limit. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FakeClock } from '../../../src/tools/apiserver/testing/index.ts';
import { TimeLimit } from '../../../src/base/time-limit.ts';

describe('a time limit', () => {
  const NEVER = new AbortController().signal;

  it('aborts its signal when the time is over, and says how long it was', () => {
    const clock = new FakeClock();
    using limit = new TimeLimit(1500, NEVER, clock);
    clock.advance(1499);
    assert.equal(limit.signal.aborted, false);
    clock.advance(1);
    assert.throws(() => limit.signal.throwIfAborted(), { name: 'TimeoutError', message: /1\.5 s/ });
  });

  it('aborts its signal with the reason of the given one, before or after its start', () => {
    const clock = new FakeClock();
    const user = new AbortController();
    using before = new TimeLimit(1500, user.signal, clock);
    user.abort(new Error('stopped'));
    using after = new TimeLimit(1500, user.signal, clock);
    for (const { signal } of [before, after]) assert.throws(() => signal.throwIfAborted(), /stopped/);
  });

  it('leaves no timer and no listener behind when its use has ended', () => {
    const clock = new FakeClock();
    const user = new AbortController();
    const limit = new TimeLimit(1500, user.signal, clock);
    limit[Symbol.dispose]();
    assert.equal(clock.advanceToNext(), false);
    user.abort();
    assert.equal(limit.signal.aborted, false);
  });
});
