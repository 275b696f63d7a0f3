/**
 * The faults of the differential table, as data: the fault of a server and its duration. Every fault is
 * healed, and reports how often it struck.
 */
import type { Change, ScenarioRule } from '../../src/apiserver/testing/index.ts';
import type { Scene } from './scene.ts';

export interface FaultCase {
  readonly name: string;
  readonly title: string;
  /** Time until the fault is healed. Default 0: it ends at once. */
  readonly faultMs?: number;
  /** Resolves with the number of strikes that the scenario itself made; strikes of rules are counted apart. */
  inject(scene: Scene): Promise<number>;
}

type Action = ScenarioRule['action'];

/** Number of objects that are deleted while no client can watch. */
const DELETED_COUNT = 50;
const ROLE = { kind: 'Pod', apiVersion: 'v1' };

/** Ends the open watch as by a timeout; the next requests are answered with the fault. */
async function answering(scene: Scene, action: Action, times: number | 'always'): Promise<number> {
  await scene.server.setFaults({
    seed: scene.seed,
    rules: [
      { faultId: 'watch', match: { verb: 'watch', resource: 'pods' }, times, action },
      // A fault that lasts applies to lists, too.
      ...(times === 'always'
        ? [{ faultId: 'list', match: { verb: 'list', resource: 'pods' }, times, action } as const]
        : []),
    ],
  });
  await scene.server.dropWatches({ how: 'close' });
  return 0;
}

async function striking(scene: Scene, action: Action): Promise<number> {
  const match = { verb: 'watch', resource: 'pods' } as const;
  await scene.server.setFaults({ seed: scene.seed, rules: [{ faultId: 'stream', match, action }] });
  return 0;
}

/** Stops the server for a while. The changes that `change` makes meanwhile have left the history when it is back. */
async function away(scene: Scene, downMs: number, change: () => Promise<void>): Promise<number> {
  const { server } = scene;
  const watches = (await server.watches()).length;
  const back = server.restart({ downMs });
  await change();
  await back;
  return watches;
}

async function changeUnseen(scene: Scene, withSuccessors: boolean): Promise<void> {
  const { server } = scene;
  const keys = [...(await server.state('pods')).keys()].sort();
  const gone = keys.filter((_, index) => index % Math.floor(keys.length / DELETED_COUNT) === 0);
  const changes: Change[] = [];
  for (const key of gone) {
    const [namespace = '', name = ''] = key.split('/');
    changes.push({ type: 'delete', resource: 'pods', namespace, name });
    const object = { ...ROLE, metadata: { namespace, name } };
    if (withSuccessors) changes.push({ type: 'create', resource: 'pods', object });
  }
  // One change at a time: an object that the load has deleted meanwhile rejects its change.
  for (const change of changes) await server.apply([change]).catch(() => undefined);
  await server.compact();
}

const nothing = (): Promise<void> => Promise.resolve();
const answer = (status: number): Action => ({ type: 'answer', status });

export const FAULT_CASES: readonly FaultCase[] = [
  {
    name: 'clean-close',
    title: 'the watch ends, as by timeout',
    inject: ({ server }) => server.dropWatches({ how: 'close' }),
  },
  {
    name: 'cut-line',
    title: 'the connection is reset in the middle of a line',
    inject: (scene) => striking(scene, { type: 'cut', how: 'reset' }),
  },
  {
    name: 'gone-at-start',
    title: '410 as the answer to one watch',
    inject: (scene) => answering(scene, answer(410), 1),
  },
  {
    name: 'gone-in-stream',
    title: 'ERROR 410 in the stream, history forgotten',
    inject: async (scene) => {
      await scene.server.compact();
      const status = { kind: 'Status', apiVersion: 'v1', code: 410, reason: 'Expired', status: 'Failure' };
      return striking(scene, { type: 'error-event', status } as Action);
    },
  },
  {
    name: 'gone-10s',
    title: '410 to everything for 10 s',
    faultMs: 10_000,
    inject: (scene) => answering(scene, answer(410), 'always'),
  },
  {
    name: 'deleted-unseen',
    title: 'away for 3 s, 50 objects deleted, history forgotten',
    inject: (scene) => away(scene, 3_000, () => changeUnseen(scene, false)),
  },
  {
    name: 'replaced-unseen',
    title: 'the same, and 50 new objects of those names',
    inject: (scene) => away(scene, 3_000, () => changeUnseen(scene, true)),
  },
  {
    name: 'too-many-requests',
    title: '429 with Retry-After: 2 to three watches',
    inject: (scene) => answering(scene, { type: 'answer', status: 429, retryAfterSeconds: 2 }, 3),
  },
  {
    name: 'error-500-10s',
    title: '500 to everything for 10 s',
    faultMs: 10_000,
    inject: (scene) => answering(scene, answer(500), 'always'),
  },
  {
    name: 'error-503-10s',
    title: '503 to everything for 10 s',
    faultMs: 10_000,
    inject: (scene) => answering(scene, answer(503), 'always'),
  },
  {
    name: 'refused-10s',
    title: 'connections refused for 10 s',
    inject: (scene) => away(scene, 10_000, nothing),
  },
  {
    name: 'restart',
    title: 'the server restarts in half a second',
    inject: (scene) => away(scene, 500, nothing),
  },
  {
    name: 'silent-hang',
    title: 'the connection goes silent for ever, new ones work',
    inject: (scene) => striking(scene, { type: 'mute' }),
  },
  {
    name: 'malformed-line',
    title: 'a line that is no JSON',
    inject: (scene) => striking(scene, { type: 'insert', lines: ['{"type":"MODIFIED","object":{"kind\n'] }),
  },
  {
    name: 'nameless-object',
    title: 'an ADDED event whose object has no name',
    inject: async (scene) => {
      const resourceVersion = String(await scene.server.revision());
      const object = { ...ROLE, metadata: { namespace: 'team-0', resourceVersion } };
      const line = `${JSON.stringify({ type: 'ADDED', object })}\n`;
      return striking(scene, { type: 'insert', lines: [line] });
    },
  },
  {
    name: 'unauthorized-once',
    title: '401 to one watch',
    inject: (scene) => answering(scene, answer(401), 1),
  },
  {
    name: 'forbidden-5s',
    title: '403 to everything for 5 s',
    faultMs: 5_000,
    inject: (scene) => answering(scene, answer(403), 'always'),
  },
];
