/** The time for which a condition has held. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { FakeClock } from '../../../src/tools/apiserver/testing/fake-clock.ts';
import { Stopwatch } from '../../../src/base/stopwatch.ts';

test('a stopwatch adds its periods up, and counts the one in progress', () => {
  const clock = new FakeClock();
  const watch = new Stopwatch(clock);
  clock.advance(5);
  watch.run(true);
  clock.advance(10);
  watch.run(true);
  assert.equal(watch.elapsedMs, 10);
  clock.advance(1);
  watch.run(false);
  clock.advance(100);
  watch.run(false);
  assert.equal(watch.elapsedMs, 11);
  watch.run(true);
  clock.advance(2);
  assert.equal(watch.elapsedMs, 13);
});

test('a stopwatch reads no clock when nothing changes', () => {
  const watch = new Stopwatch({ now: () => assert.fail('the clock was read') });
  watch.run(false);
  assert.equal(watch.elapsedMs, 0);
});
