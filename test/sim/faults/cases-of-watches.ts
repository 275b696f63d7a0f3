/** Cases about watches that end, break or expire. */
import assert from 'node:assert/strict';
import type { FaultAction, ScenarioMatch } from '../../../src/tools/apiserver/testing/index.ts';
import type { FaultCase } from './fault-case.ts';
import type { SimulatedScene as Scene } from './simulated-scene.ts';
import {
  EXPIRED,
  FAILURE,
  GONE,
  LIST_ONLY,
  PLAIN_WATCH,
  RESET,
  onlyWatches,
  relistedFrom,
  relists,
  resumes,
  strike,
} from './strikes.ts';

const TRUNCATED = 'ERR_KUBELOOM_TRUNCATED';
const ANSWER_410: FaultAction = { type: 'answer', status: 410 };
const ANSWER_429: FaultAction = { type: 'answer', status: 429, retryAfterSeconds: 1 };
const LIST: ScenarioMatch = { verb: 'list' };

const cutAt = (how: 'end' | 'reset') => async (scene: Scene) => {
  for (let round = 0; round < 5; round++)
    await strike(scene, { type: 'cut', how }, { verb: 'watch', afterEvents: 3 });
  return onlyWatches(scene);
};

export const CASES_OF_WATCHES: readonly FaultCase<Scene>[] = [
  {
    id: '1',
    what: 'a watch ends properly',
    expected: 'resumes from the last version, no list, no report',
    run: resumes({ type: 'end' }),
  },
  {
    id: '2',
    what: 'a watch ends properly in the middle of an event, at random bytes',
    expected: 'the rest is dropped and counted, resumes from the last complete event',
    codes: [TRUNCATED],
    run: cutAt('end'),
  },
  {
    id: '3',
    what: 'TCP reset in the middle of an event, at random bytes',
    expected: 'as case 2, reported as a reset',
    codes: [RESET],
    run: cutAt('reset'),
  },
  {
    id: '4',
    what: 'HTTP 410 for a watch, then for the list at its version',
    expected: 'lists at the last version, then the newest',
    codes: [GONE],
    informer: LIST_ONLY,
    run: relists(
      /^watch \d+, list \d+, list(, list)*, watch \d+/,
      { type: 'end' },
      {},
      [ANSWER_410, PLAIN_WATCH],
      [ANSWER_410, LIST],
    ),
  },
  {
    id: '5',
    what: '410 as an event of a watch',
    expected: 'not treated as a regular end: lists at the last version',
    codes: [GONE],
    run: relists(/^stream \d+$/, EXPIRED, { verb: 'watch', afterEvents: 5 }),
  },
  {
    id: '6',
    what: '410 for every watch, although the list is fresh; delays are a twentieth of the real ones',
    expected: 'at most 10 requests in 3 s, and a report',
    codes: [GONE, 'ERR_KUBELOOM_EXPIRED_LOOP'],
    informer: { ...LIST_ONLY, backoff: { initialMs: 40, maxMs: 1500 } },
    run: async (scene) => {
      await scene.fault(ANSWER_410, PLAIN_WATCH, 'always');
      await scene.untilLanded(await scene.fault(EXPIRED));
      await scene.mark();
      await scene.pass(3000);
      const count = (await scene.requests()).length;
      await scene.heal();
      assert.ok(count <= 10, `${count} requests`);
      return `${count} requests in 3 s`;
    },
  },
  {
    id: '7',
    what: '410 for a list at the last version',
    expected: 'one more request for the newest version, at once',
    codes: [GONE],
    informer: LIST_ONLY,
    run: relists(/^list \d+, list, watch \d+$/, EXPIRED, {}, [ANSWER_410, LIST]),
  },
  {
    id: '8a',
    what: 'the continue token expires on the third page',
    expected: 'one full list instead of the pages',
    codes: [GONE],
    informer: LIST_ONLY,
    objects: 1200,
    run: relists(
      /^list \d+, list, list, list, list, watch \d+$/,
      EXPIRED,
      {},
      [ANSWER_410, LIST],
      [ANSWER_410, { ...LIST, nth: 4 }],
    ),
  },
  {
    id: '8b',
    what: 'always the same continue token',
    expected: 'ERR_KUBELOOM_MALFORMED_RESPONSE, and nothing of the list in the cache',
    codes: [GONE, 'ERR_KUBELOOM_MALFORMED_RESPONSE'],
    informer: LIST_ONLY,
    run: async (scene) => {
      const token = Buffer.from('{"v":"meta.k8s.io/v1","rv":-1,"start":"/"}').toString('base64url');
      await scene.fault({ type: 'list-metadata', set: { continue: token } }, { verb: 'list' }, 'always');
      await scene.fault(EXPIRED);
      await scene.untilReported('ERR_KUBELOOM_MALFORMED_RESPONSE');
      const pages = (await scene.requests()).filter(({ watch }) => !watch).length;
      await scene.heal();
      return `abandoned after at most ${pages} pages`;
    },
  },
  ...tooLarge(),
  {
    id: '12a',
    what: '429 for a list, Retry-After 1 s',
    expected: 'waits at least that long',
    codes: [GONE, 'ERR_KUBELOOM_TOO_MANY_REQUESTS'],
    informer: LIST_ONLY,
    run: (scene) => patient(scene, EXPIRED, ANSWER_429, LIST),
  },
  {
    id: '12b',
    what: '429 for a watch, Retry-After 1 s',
    expected: 'waits at least that long, and sends no list',
    codes: ['ERR_KUBELOOM_TOO_MANY_REQUESTS'],
    run: async (scene) => {
      await patient(scene, { type: 'end' }, ANSWER_429, PLAIN_WATCH);
      return onlyWatches(scene);
    },
  },
  {
    id: '12c',
    what: '429 as an event of a watch',
    expected: 'waits, and sends no list',
    codes: ['ERR_KUBELOOM_TOO_MANY_REQUESTS'],
    run: async (scene) => {
      const details = { retryAfterSeconds: 1 };
      const status = { kind: 'Status', code: 429, reason: 'TooManyRequests', details } as const;
      await patient(scene, undefined, { type: 'error-event', status }, { verb: 'watch' });
      return onlyWatches(scene);
    },
  },
  {
    id: '34',
    what: 'a watch reports that the server cannot read one of its objects, which is then deleted',
    expected: 'a list; the object is deleted',
    codes: ['ERR_KUBELOOM_STORE_READ'],
    run: async (scene) => {
      const [key = ''] = await scene.keys();
      const [namespace = '', name = ''] = key.split('/');
      const status = { ...FAILURE, code: 500, reason: 'StoreReadError' };
      const id = await scene.fault({ type: 'error-event', status });
      await scene.untilLanded(id);
      await scene.apply({ type: 'delete', resource: 'pods', namespace, name });
      await scene.untilReceived(50);
      await scene.heal();
      assert.equal(scene.informer.getStore().getByKey(key), undefined);
      return relistedFrom(scene, /^stream \d+/);
    },
  },
];

/** Applies the fault twice; the second request must not come before the requested delay. */
async function patient(
  scene: Scene,
  first: FaultAction | undefined,
  action: FaultAction,
  match: ScenarioMatch,
): Promise<string> {
  const id = await scene.fault(action, match, 2);
  if (first) await scene.fault(first);
  const [one, two] = await scene.untilLanded(id, 2);
  await scene.untilReceived(50);
  await scene.heal();
  const gapMs = (two?.atMs ?? 0) - (one?.atMs ?? 0);
  assert.ok(gapMs >= 1000, `asked again after ${gapMs} ms`);
  return `asked again after ${gapMs.toFixed(0)} ms`;
}

/** Servers report it in three ways. */
function tooLarge(): FaultCase<Scene>[] {
  const message = 'Timeout: Too large resource version: 9, current: 8';
  const status = { ...FAILURE, reason: 'Timeout', code: 504 };
  const cause = { message: 'Too large resource version' };
  const bodies: [string, object][] = [
    [
      'a cause with a reason',
      { ...status, details: { causes: [{ ...cause, reason: 'ResourceVersionTooLarge' }] } },
    ],
    ['a cause with a message', { ...status, details: { causes: [cause] } }],
    ['a message', { ...status, message }],
  ];
  return bodies.map(([what, body], index) => ({
    id: `9${'abc'[index]}`,
    what: `"Too large resource version", as ${what}`,
    expected: 'the newest state is listed at once',
    codes: [GONE],
    informer: LIST_ONLY,
    run: relists(/^list \d+, list, watch \d+$/, EXPIRED, {}, [{ type: 'answer', status: 504, body }, LIST]),
  }));
}
