/** The table of histories through the pipeline: its twin and its threads, both codecs, both ways of listing. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { InformerThreads } from '../../src/index.ts';
import { PLAYABLE, hasResync, storedAfter, toldByPipeline, withoutOrderOfDeletions } from './expected.ts';
import { PATIENT, play } from './lane.ts';
import { pipelineLane } from './pipeline-lane.ts';

/** Nothing waits for anything: what comes first, a resync or what is on its way, is nobody's promise. */
const HURRIED = PLAYABLE.filter((history) => !hasResync(history));
/** Objects of the table: the least that the shards must have been given, of all rows together. */
const OBJECTS_MIN = 100;

for (const count of [0, 1, 3]) {
  describe(`the pipeline with threads: ${count}`, () => {
    const threads = new InformerThreads({ threads: count });
    const compared =
      count > 1 ? withoutOrderOfDeletions : (told: readonly string[]): readonly string[] => told;

    for (const codec of ['json', 'msgpack'] as const) {
      for (const lists of ['pages', 'streams'] as const) {
        for (const history of PLAYABLE) {
          test(`held, ${codec}, lists in ${lists}: ${history.title}`, PATIENT, async () => {
            const { told, stored } = await play(pipelineLane({ threads, codec, lists }), history.steps);
            assert.deepEqual(compared(told), compared(toldByPipeline(history)));
            assert.deepEqual(stored, storedAfter(told));
          });
        }
      }
      for (const history of HURRIED) {
        test(`hurried, ${codec}: ${history.title}`, PATIENT, async () => {
          const lane = pipelineLane({ threads, codec, lists: 'pages', isHurried: true });
          const { told, stored } = await play(lane, history.steps);
          assert.deepEqual(compared(told), compared(toldByPipeline(history)));
          assert.deepEqual(stored, storedAfter(told));
        });
      }
    }

    test('all of its threads did the work', async () => {
      const stats = await threads.stats();
      const shards = stats.filter(({ role }) => role.startsWith('shard'));
      assert.equal(shards.length, Math.max(1, count));
      for (const { role, deltas } of shards) assert.ok(deltas >= OBJECTS_MIN, `${role}: ${deltas}`);
    });

    after(() => threads.close());
  });
}
