/** Decision of a shard between a pause and parking on its bell. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Moderation, PAUSE_MS } from '../../../src/indexer/shard-loop.ts';

/** Returns the number of pauses in `reads` batches of `records`, `everyMs` apart. */
function pauses(reads: number, records: number, everyMs: number): number {
  const moderation = new Moderation(1000);
  let paused = 0;
  for (let read = 1; read <= reads; read++) {
    moderation.add(records);
    if (moderation.shouldPause(1000 + read * everyMs)) paused++;
  }
  return paused;
}

test('at a high rate a thread pauses, however small its batches are', () => {
  assert.equal(pauses(1000, 3, 0.03), 1000 - 33, 'three at a time, 100,000 a second');
  assert.equal(pauses(100, 50, PAUSE_MS), 100, 'fifty at a time, 50,000 a second');
  assert.equal(pauses(100, 1024, 5), 100);
});

test('at a low rate a thread waits for its bell, however large its batches are', () => {
  assert.equal(pauses(1000, 1, 0.1), 0, 'one at a time, 10,000 a second');
  assert.equal(pauses(100, 300, 10), 0, 'three hundred at a time, 30,000 a second');
});

test('one pause without work ends the pauses', () => {
  const moderation = new Moderation(0);
  moderation.add(100);
  assert.equal(moderation.shouldPause(PAUSE_MS), true);
  assert.equal(moderation.shouldPause(2 * PAUSE_MS), false);
});
