/** Dropped memory that V8 counts late. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ForgottenMemory } from '../../../src/shared/forgotten-memory.ts';

test('C293 memory that a thread has forgotten is collected on request, when it is worth it', () => {
  let collections = 0;
  const forgotten = new ForgottenMemory(() => collections++);
  forgotten.add(2 ** 22);
  forgotten.collect();
  assert.equal(collections, 0);
  forgotten.add(2 ** 22);
  forgotten.collect();
  forgotten.collect();
  assert.equal(collections, 1);
});
