/**
 * The faults of the differential table, as data: what is done to a server, and for how long. Every one of them is
 * healed, and says how to see that it landed.
 */
import type { Change, ScenarioRule } from '../../src/testing/index.ts';
import type { Scene } from './scene.ts';

export interface FaultCase {
  readonly name: string;
  readonly title: string;
  /** How long until it is healed; 0: it is over at once. */
  readonly faultMs: number;
  /** Connect the client through a proxy that can be frozen. */
  readonly isProxied?: boolean;
  /** Resolves with how often it landed by itself; strikes of rules are counted apart. */
  inject(scene: Scene): Promise<number>;
}

type Action = ScenarioRule['action'];

/** Of the objects that are deleted while nobody can watch. */
const DELETED_COUNT = 50;
const ROLE = { kind: 'Pod', apiVersion: 'v1' };

/** The open watch ends as by timeout, so that requests follow, and those are answered with the fault. */
async function answering(scene: Scene, action: Action, times: number | 'always'): Promise<number> {
  await scene.server.setFaults({
    seed: scene.seed,
    rules: [
      { faultId: 'watch', match: { verb: 'watch', resource: 'pods' }, times, action },
      // What lasts, lasts for lists as well.
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

/** The server is away for a while; what `change` does then has left its history when it is back. */
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
  // One after the other: what the load has deleted meanwhile is gone all the same.
  for (const change of changes) await server.apply([change]).catch(() => undefined);
  await server.compact();
}

const nothing = (): Promise<void> => Promise.resolve();
const answer = (status: number, retryAfterSeconds?: number): Action => ({
  type: 'answer',
  status,
  ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
});

export const FAULT_CASES: readonly FaultCase[] = [
  {
    name: 'clean-close',
    title: 'the watch ends, as by timeout',
    faultMs: 0,
    inject: ({ server }) => server.dropWatches({ how: 'close' }),
  },
  {
    name: 'cut-line',
    title: 'the connection is reset in the middle of a line',
    faultMs: 0,
    inject: (scene) => striking(scene, { type: 'cut', how: 'reset' }),
  },
  {
    name: 'gone-at-start',
    title: '410 as the answer to one watch',
    faultMs: 0,
    inject: (scene) => answering(scene, answer(410), 1),
  },
  {
    name: 'gone-in-stream',
    title: 'ERROR 410 in the stream, history forgotten',
    faultMs: 0,
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
    faultMs: 0,
    inject: (scene) => away(scene, 3_000, () => changeUnseen(scene, false)),
  },
  {
    name: 'replaced-unseen',
    title: 'the same, and 50 new objects of those names',
    faultMs: 0,
    inject: (scene) => away(scene, 3_000, () => changeUnseen(scene, true)),
  },
  {
    name: 'too-many-requests',
    title: '429 with Retry-After: 2 to three watches',
    faultMs: 0,
    inject: (scene) => answering(scene, answer(429, 2), 3),
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
    faultMs: 0,
    inject: (scene) => away(scene, 10_000, nothing),
  },
  {
    name: 'restart',
    title: 'the server restarts in half a second',
    faultMs: 0,
    inject: (scene) => away(scene, 500, nothing),
  },
  {
    name: 'silent-hang',
    title: 'the connection goes silent for ever, new ones work',
    faultMs: 0,
    isProxied: true,
    inject: ({ proxy }) => Promise.resolve(proxy?.freeze() ?? 0),
  },
  {
    name: 'malformed-line',
    title: 'a line that is no JSON',
    faultMs: 0,
    inject: (scene) => striking(scene, { type: 'insert', lines: ['{"type":"MODIFIED","object":{"kind\n'] }),
  },
  {
    name: 'nameless-object',
    title: 'an ADDED event whose object has no name',
    faultMs: 0,
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
    faultMs: 0,
    inject: (scene) => answering(scene, answer(401), 1),
  },
  {
    name: 'forbidden-5s',
    title: '403 to everything for 5 s',
    faultMs: 5_000,
    inject: (scene) => answering(scene, answer(403), 'always'),
  },
];
