/** Tests of all queues with the table of histories: the specified answers, and the common result of all modes. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import { HISTORIES } from './histories.ts';
import { replay } from './replay.ts';

/** Returns the handler's final state: the newest state of each object delivered to it. */
function finalState(calls: readonly string[]): Record<string, string> {
  const state: Record<string, string> = {};
  for (const text of calls) {
    const [verb, ...versions] = text.replace(' initial', '').split(' ');
    const newest = versions.at(-1)!;
    const name = newest.split('@')[0]!;
    if (verb === 'delete') delete state[name];
    else state[name] = newest;
  }
  return state;
}

describe('the history of every input', () => {
  for (const history of HISTORIES) {
    const { title, steps, deltaFifo, realFifo, atomic, calls } = history;
    const { callsByRealFifo = calls, callsByDeltaFifo = calls } = history;

    test(`in a DeltaFIFO: ${title}`, async () => {
      assert.deepEqual(await replay('deltaFifo', steps), { popped: deltaFifo, calls: callsByDeltaFifo });
    });

    test(`in a RealFIFO: ${title}`, async () => {
      assert.deepEqual(await replay('realFifo', steps), { popped: realFifo, calls: callsByRealFifo });
    });

    test(`in an atomic RealFIFO: ${title}`, async () => {
      assert.deepEqual(await replay('atomic', steps), { popped: atomic, calls });
    });

    test(`ends in the same state in all modes: ${title}`, () => {
      assert.deepEqual(finalState(callsByRealFifo), finalState(calls));
      assert.deepEqual(finalState(callsByDeltaFifo), finalState(calls));
    });
  }
});
