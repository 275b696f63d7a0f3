/** The table of histories through all queues: the specification's answers, and what all modes have in common. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import { HISTORIES } from './histories.ts';
import { replay } from './replay.ts';

/** What a handler knows at the end: the newest state of each object that it was told of. */
function finalState(told: readonly string[]): Record<string, string> {
  const state: Record<string, string> = {};
  for (const text of told) {
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
    const { title, steps, deltaFifo, realFifo, atomic, told } = history;
    const { toldByRealFifo = told, toldByDeltaFifo = told } = history;

    test(`in a DeltaFIFO: ${title}`, async () => {
      assert.deepEqual(await replay('deltaFifo', steps), { popped: deltaFifo, told: toldByDeltaFifo });
    });

    test(`in a RealFIFO: ${title}`, async () => {
      assert.deepEqual(await replay('realFifo', steps), { popped: realFifo, told: toldByRealFifo });
    });

    test(`in an atomic RealFIFO: ${title}`, async () => {
      assert.deepEqual(await replay('atomic', steps), { popped: atomic, told });
    });

    test(`ends in the same state in all modes: ${title}`, () => {
      assert.deepEqual(finalState(toldByRealFifo), finalState(told));
      assert.deepEqual(finalState(toldByDeltaFifo), finalState(told));
    });
  }
});
