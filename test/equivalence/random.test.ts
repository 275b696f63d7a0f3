/**
 * Random histories through everything there is. What keeps the order over all objects (an atomic RealFIFO, the
 * plain informer, the pipeline) tells exactly the same; of the older queues the history of every single object.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { InformerThreads } from '../../src/index.ts';
import { replay } from '../queue/replay.ts';
import { controllerLane, plainInformerLane } from './controller-lanes.ts';
import { withoutOrderOfDeletions } from './expected.ts';
import { PATIENT, play } from './lane.ts';
import { pipelineLane } from './pipeline-lane.ts';
import { randomHistory } from './random-history.ts';

const SEEDS = 200;
const SEEDS_PER_TEST = 50;

/**
 * By name. Without updates that change nothing: the older queues leave out the resync of what is queued. And without
 * `initial`: what a DeltaFIFO has merged with something of the first list counts as of the first list.
 */
function histories(told: readonly string[]): Map<string, string[]> {
  const byName = new Map<string, string[]>();
  for (const text of told) {
    const [verb = '', ...states] = text.replace(' initial', '').split(' ');
    if (states[0] === states[1]) continue;
    const name = (states[0] ?? '').replace(/@.*$/, '');
    byName.set(name, [...(byName.get(name) ?? []), [verb, ...states].join(' ')]);
  }
  return byName;
}

const threads = new InformerThreads({ threads: 0 });
after(() => threads.close());

for (let first = 1; first <= SEEDS; first += SEEDS_PER_TEST) {
  const last = first + SEEDS_PER_TEST - 1;
  test(`all lanes tell the same of the random histories ${first} to ${last}`, PATIENT, async () => {
    for (let seed = first; seed <= last; seed++) {
      const { steps, objects } = randomHistory(seed);
      const lists = seed % 2 === 0 ? 'pages' : 'streams';
      const codec = seed % 3 === 0 ? 'msgpack' : 'json';
      const specified = withoutOrderOfDeletions((await replay('atomic', steps)).told);
      const inOrder = [
        ['controller', controllerLane('atomic', lists)],
        ['newInformer', plainInformerLane(lists)],
        ['twin', pipelineLane({ threads, codec, lists })],
      ] as const;
      for (const [name, lane] of inOrder) {
        const { told, stored } = await play(lane, steps);
        assert.deepEqual(withoutOrderOfDeletions(told), specified, `seed ${seed}: ${name}`);
        assert.deepEqual(stored, objects, `seed ${seed}: the store of ${name}`);
      }
      for (const mode of ['realFifo', 'deltaFifo'] as const) {
        const { told, stored } = await play(controllerLane(mode, lists), steps);
        assert.deepEqual(histories(told), histories(specified), `seed ${seed}: ${mode}`);
        assert.deepEqual(stored, objects, `seed ${seed}: the store of ${mode}`);
      }
    }
  });
}
