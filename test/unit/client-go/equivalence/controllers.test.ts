/**
 * Runs the table of histories through client-go's lower layers: every queue, the plain informer, both ways of listing.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { HISTORIES } from '../queue/histories.ts';
import { controllerLane, plainInformerLane } from './controller-lanes.ts';
import {
  PLAYABLE,
  WITHOUT_A_SERVER,
  poppedBy,
  isDoubled,
  storedAfter,
  callsByController,
} from './expected.ts';
import { play } from './lane.ts';

test('only named rows of the table are excluded, and they exist', () => {
  const titles = HISTORIES.map(({ title }) => title);
  for (const title of WITHOUT_A_SERVER.keys()) assert.ok(titles.includes(title), title);
  assert.equal(PLAYABLE.length, HISTORIES.length - WITHOUT_A_SERVER.size);
});

for (const lists of ['pages', 'streams'] as const) {
  for (const mode of ['deltaFifo', 'realFifo', 'atomic'] as const) {
    describe(`a Controller over ${mode}, lists in ${lists}`, () => {
      for (const history of PLAYABLE) {
        test(history.title, async () => {
          const { calls, popped, stored } = await play(controllerLane(mode, lists), history.steps);
          const expected = callsByController(mode, lists, history);
          assert.deepEqual(calls, expected);
          assert.deepEqual(stored, storedAfter(expected));
          if (lists === 'streams' && isDoubled(history)) return;
          assert.deepEqual(popped, poppedBy(mode, history));
        });
      }
    });
  }

  describe(`newInformer, lists in ${lists}`, () => {
    for (const history of PLAYABLE) {
      test(history.title, async () => {
        const { calls, stored } = await play(plainInformerLane(lists), history.steps);
        const expected = callsByController('atomic', lists, history);
        assert.deepEqual(calls, expected);
        assert.deepEqual(stored, storedAfter(expected));
      });
    }
  });
}
