/** When a slow handler is worth a word: far behind, long calls, once a minute. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import { FakeClock } from '../../src/testing/fake-clock.ts';
import { at, scene } from './listener-scene.ts';
import { newListener } from './recording-handler.ts';

/** How long the calls took that were worth a word, of a handler that is this far behind. */
function slowCalls(pending: number, ...callsMs: number[]): number[] {
  const { replica, processor } = scene();
  const clock = new FakeClock();
  const { listener, reports } = newListener({ onAdd: () => clock.advance(callsMs.shift() ?? 0) }, { clock });
  processor.add(listener, replica.replica);
  listener.deliver(Infinity);
  for (let version = 1; version <= pending; version++) replica.put(at(`p${version}`, version));
  listener.deliver(Infinity);
  return reports.slow;
}

describe('a slow call', () => {
  test('C21 C141 is one of more than 100 ms with more than 1024 notifications behind it', () => {
    assert.deepEqual(slowCalls(1026, 101), [101]);
    assert.deepEqual(slowCalls(1026, 100), []);
    assert.deepEqual(slowCalls(1025, 101), []);
  });

  test('C21 C141 is worth a word once a minute', () => {
    assert.deepEqual(slowCalls(2000, 150, 59_849, 150, 59_850, 200), [150, 59_850]);
  });
});
