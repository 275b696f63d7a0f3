/** Runs the table of histories through the pipeline: in-process and with threads, both codecs, both ways of listing. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { InformerThreads } from '../../../../src/index.ts';
import { PLAYABLE, hasResync, storedAfter, callsByPipeline, withoutOrderOfDeletions } from './expected.ts';
import { play } from './lane.ts';
import { pipelineLane } from './pipeline-lane.ts';

/** Rows for runs without waiting: there the order of a resync and of changes in transit is undefined. */
const HURRIED = PLAYABLE.filter((history) => !hasResync(history));
/** Minimum number of objects that all shards together must have received. */
const OBJECTS_MIN = 100;

for (const count of [0, 1, 3]) {
  describe(`the pipeline with threads: ${count}`, () => {
    const threads = new InformerThreads({ indexerThreads: count });
    const compared =
      count > 1 ? withoutOrderOfDeletions : (calls: readonly string[]): readonly string[] => calls;

    for (const codec of ['json', 'msgpack'] as const) {
      for (const lists of ['pages', 'streams'] as const) {
        for (const history of PLAYABLE) {
          test(`held, ${codec}, lists in ${lists}: ${history.title}`, async () => {
            const { calls, stored } = await play(pipelineLane({ threads, codec, lists }), history.steps);
            assert.deepEqual(compared(calls), compared(callsByPipeline(history)));
            assert.deepEqual(stored, storedAfter(calls));
          });
        }
      }
      for (const history of HURRIED) {
        test(`hurried, ${codec}: ${history.title}`, async () => {
          const lane = pipelineLane({ threads, codec, lists: 'pages', isHurried: true });
          const { calls, stored } = await play(lane, history.steps);
          assert.deepEqual(compared(calls), compared(callsByPipeline(history)));
          assert.deepEqual(stored, storedAfter(calls));
        });
      }
    }

    test('all of its threads did the work', async () => {
      const stats = threads.stats();
      const shards = stats.filter(({ role }) => role.startsWith('shard'));
      assert.equal(shards.length, Math.max(1, count));
      for (const { role, deltas } of shards) assert.ok(deltas >= OBJECTS_MIN, `${role}: ${deltas}`);
    });

    after(() => threads.close());
  });
}
