/** Tests of all queues with the table of histories: the specified answers, and the common result of all modes. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import { storedAfter } from '../equivalence/expected.ts';
import { HISTORIES } from './histories.ts';
import { replay } from './replay.ts';

describe('the table of histories', () => {
  for (const { title, steps, deltaFifo, realFifo, atomic, ...handlers } of HISTORIES) {
    const { calls, callsByRealFifo = calls, callsByDeltaFifo = calls } = handlers;

    test(`C104 in a DeltaFIFO, ${title}`, async () => {
      assert.deepEqual(await replay('deltaFifo', steps), { popped: deltaFifo, calls: callsByDeltaFifo });
    });

    test(`C103 in a RealFIFO, ${title}`, async () => {
      assert.deepEqual(await replay('realFifo', steps), { popped: realFifo, calls: callsByRealFifo });
    });

    test(`C103 in an atomic RealFIFO, ${title}`, async () => {
      assert.deepEqual(await replay('atomic', steps), { popped: atomic, calls });
    });

    test(`the handler ends with the same state in all modes: ${title}`, () => {
      assert.deepEqual(storedAfter(callsByRealFifo), storedAfter(calls));
      assert.deepEqual(storedAfter(callsByDeltaFifo), storedAfter(calls));
    });
  }
});
