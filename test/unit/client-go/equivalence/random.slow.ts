/**
 * Runs random histories through all implementations. Those that keep the order over all objects (an atomic
 * RealFIFO, the plain informer, the pipeline) must make the same handler calls; the older queues must have the
 * same history for every single object.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { InformerThreads } from '../../../../src/index.ts';
import { replay } from '../queue/replay.ts';
import { controllerLane, plainInformerLane } from './controller-lanes.ts';
import { withoutOrderOfDeletions } from './expected.ts';
import { play } from './lane.ts';
import { pipelineLane } from './pipeline-lane.ts';
import { randomHistory } from './random-history.ts';

const SEEDS = 200;
const SEEDS_PER_TEST = 50;

/**
 * Returns the handler calls by name, without updates that change nothing: the older queues leave out the resync of a
 * queued object. Also without `initial`: in a DeltaFIFO a change that was merged with the first list belongs to it.
 */
function histories(calls: readonly string[]): Map<string, string[]> {
  const byName = new Map<string, string[]>();
  for (const text of calls) {
    const [verb = '', ...states] = text.replace(' initial', '').split(' ');
    if (states[0] === states[1]) continue;
    const name = (states[0] ?? '').replace(/@.*$/, '');
    byName.set(name, [...(byName.get(name) ?? []), [verb, ...states].join(' ')]);
  }
  return byName;
}

const threads = new InformerThreads({ indexerThreads: 0 });
after(() => threads.close());

for (let first = 1; first <= SEEDS; first += SEEDS_PER_TEST) {
  const last = first + SEEDS_PER_TEST - 1;
  test(`all lanes deliver the same for the random histories ${first} to ${last}`, async () => {
    for (let seed = first; seed <= last; seed++) {
      const { steps, objects } = randomHistory(seed);
      const lists = seed % 2 === 0 ? 'pages' : 'streams';
      const codec = seed % 3 === 0 ? 'msgpack' : 'json';
      const specified = withoutOrderOfDeletions((await replay('atomic', steps)).calls);
      const inOrder = [
        ['controller', controllerLane('atomic', lists)],
        ['newInformer', plainInformerLane(lists)],
        ['twin', pipelineLane({ threads, codec, lists })],
      ] as const;
      for (const [name, lane] of inOrder) {
        const { calls, stored } = await play(lane, steps);
        assert.deepEqual(withoutOrderOfDeletions(calls), specified, `seed ${seed}: ${name}`);
        assert.deepEqual(stored, objects, `seed ${seed}: the store of ${name}`);
      }
      for (const mode of ['realFifo', 'deltaFifo'] as const) {
        const { calls, stored } = await play(controllerLane(mode, lists), steps);
        assert.deepEqual(histories(calls), histories(specified), `seed ${seed}: ${mode}`);
        assert.deepEqual(stored, objects, `seed ${seed}: the store of ${mode}`);
      }
    }
  });
}
