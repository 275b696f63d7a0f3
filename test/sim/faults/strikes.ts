/** Steps of many cases: strike once, and look at the requests that follow. */
import assert from 'node:assert/strict';
import type { FaultAction, ScenarioMatch } from '../../../src/tools/apiserver/testing/index.ts';
import type { CaseScene } from './case-scene.ts';

export const GONE = 'ERR_KUBELOOM_GONE';
export const UNREACHABLE = 'ERR_KUBELOOM_UNREACHABLE';
export const RESET = 'ERR_KUBELOOM_CONNECTION_RESET';
/** Match of a watch that is no streaming list. */
export const PLAIN_WATCH: ScenarioMatch = { verb: 'watch', query: { sendInitialEvents: '' } };
export const STREAMING: ScenarioMatch = { verb: 'watch', query: { sendInitialEvents: 'true' } };
export const FAILURE = { kind: 'Status', apiVersion: 'v1', status: 'Failure' } as const;
export const EXPIRED: FaultAction = {
  type: 'error-event',
  status: { ...FAILURE, reason: 'Expired', code: 410, message: 'too old' },
};
export const LIST_ONLY = { list: { watchList: 'off' } } as const;

/** Applies the fault once, and waits for some events. They may be events that were on their way before the fault. */
export async function strike(
  scene: CaseScene,
  action: FaultAction,
  match: ScenarioMatch = {},
): Promise<void> {
  await scene.fault(action, match);
  await scene.untilAllLanded();
  await scene.untilReceived(50);
  await scene.heal();
}

export async function onlyWatches(scene: CaseScene): Promise<string> {
  const asked = await askedFor(scene, /./);
  const lists = asked.filter((one) => !one.startsWith('watch '));
  assert.deepEqual(lists, [], 'no list');
  return asked.join(', ');
}

export async function relistedFrom(scene: CaseScene, verbs: RegExp): Promise<string> {
  return (await askedFor(scene, verbs)).join(', ');
}

async function askedFor(scene: CaseScene, verbs: RegExp): Promise<string[]> {
  let asked: string[] = [];
  const isAsked = async (): Promise<boolean> => verbs.test((asked = await scene.asked()).join(', '));
  await scene.until(isAsked, `${verbs.source} was asked`).catch(() => undefined);
  assert.match(asked.join(', '), verbs);
  return asked;
}

type Run = (scene: CaseScene) => Promise<string>;

/** Returns the run of a fault after which the informer only watches. */
export function resumes(action: FaultAction, match: ScenarioMatch = {}): Run {
  return async (scene) => {
    await strike(scene, action, match);
    return onlyWatches(scene);
  };
}

/** Returns the run of a fault after which the informer makes these requests, while other faults wait for them. */
export function relists(
  verbs: RegExp,
  action: FaultAction,
  match: ScenarioMatch = {},
  ...others: readonly (readonly [FaultAction, ScenarioMatch])[]
): Run {
  return async (scene) => {
    for (const other of others) await scene.fault(...other);
    await strike(scene, action, match);
    return relistedFrom(scene, verbs);
  };
}
