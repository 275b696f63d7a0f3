/** One run: one client, one fault, and the judgement. */
import { setTimeout as delay } from 'node:timers/promises';
import { differenceBetween, isEqual, judge } from './judge.ts';
import type { Judgement } from './judge.ts';
import type { FaultCase } from './cases.ts';
import type { ReadyClient } from './client-kinds.ts';
import { LOAD_RATE_MIN, Scene } from './scene.ts';

export interface CaseRun {
  readonly case: string;
  readonly client: string;
  readonly seed: number;
  /** Version of the client. */
  readonly version?: string;
  /** Why the run is invalid. */
  readonly invalid?: string;
  readonly judgement?: Judgement;
  /** True when the client's informer, or its process, ended. */
  readonly isStopped?: boolean;
  /** The rate before the fault. */
  readonly changesPerSecond?: number;
  readonly landed?: number;
}

const SYNC_MS_MAX = 60_000;
/** Duration of the load before the fault, and after it is healed. */
const BEFORE_MS = 2_000;
const AFTER_MS = 2_000;
/** Time after the healing after which a client that still differs is given up. */
export const RECOVERY_MS_MAX = 30_000;
const STATE_MS_MAX = 10_000;
const STRIKE_MS_MAX = 10_000;
const LOOK_MS = 50;

export async function runCase(faultCase: FaultCase, client: ReadyClient, seed: number): Promise<CaseRun> {
  const what = { case: faultCase.name, client: client.name, seed };
  const scene = await Scene.set(seed, client.command);
  try {
    return { ...what, ...(await play(faultCase, scene)) };
  } catch (error) {
    return { ...what, invalid: String(error) };
  } finally {
    await scene[Symbol.asyncDispose]();
  }
}

async function play(faultCase: FaultCase, scene: Scene): Promise<Partial<CaseRun>> {
  const { server, client } = scene;
  const { faultMs = 0 } = faultCase;
  if (!(await client.saidBy('synced', SYNC_MS_MAX))) return { invalid: 'the client did not sync' };
  const loadFromRevision = await server.revision();
  scene.startLoad();
  const loadStarted = performance.now();
  await delay(BEFORE_MS);
  const changesPerSecond = ((await server.loadIssued()) * 1000) / (performance.now() - loadStarted);

  let landed = await faultCase.inject(scene);
  await delay(faultMs);
  if (landed === 0) await firstStrike(scene);
  if (faultMs > 0) await server.healFaults();
  const { revision: markerRevision } = await server.apply([
    { type: 'put', resource: 'pods', object: { metadata: { namespace: 'team-0', name: 'marker' } } },
  ]);
  const healedAt = performance.timeOrigin + performance.now();
  await delay(AFTER_MS);
  await scene.stopLoad();
  await quiescence(scene, healedAt);
  landed += (await server.landedFaults()).length;

  const state = await server.state('pods');
  const store = await client.state(STATE_MS_MAX);
  const judgement = judge({
    lines: client.lines,
    store: store ?? client.view.objects,
    server: state,
    journal: [...(await server.log('pods'))],
    loadFromRevision,
    markerRevision,
    healedAt,
  });
  const invalid = invalidity(landed, changesPerSecond);
  const version = client.lines.find(({ kind }) => kind === 'client');
  return {
    ...(invalid === undefined ? {} : { invalid }),
    ...(version?.kind === 'client' ? { version: version.version } : {}),
    judgement,
    isStopped: client.isStopped,
    changesPerSecond,
    landed,
  };
}

/** Resolves with the first strike; rules strike with the next request or event. */
async function firstStrike({ server }: Scene): Promise<void> {
  const end = performance.now() + STRIKE_MS_MAX;
  while ((await server.landedFaults()).length === 0 && performance.now() < end) await delay(LOOK_MS);
}

function invalidity(landed: number, changesPerSecond: number): string | undefined {
  if (landed === 0) return 'the fault did not land';
  if (changesPerSecond >= LOAD_RATE_MIN) return undefined;
  return `only ${Math.round(changesPerSecond)} changes/s before the fault`;
}

/** Resolves when the handler's collection equals the server's, when the client has stopped, or when the time is up. */
async function quiescence({ server, client }: Scene, healedAt: number): Promise<void> {
  const end = healedAt + RECOVERY_MS_MAX;
  const state = await server.state('pods');
  while (performance.timeOrigin + performance.now() < end && !client.isStopped) {
    if (isEqual(differenceBetween(client.view.objects, state))) return;
    await delay(LOOK_MS);
  }
  // Notifications from before the stop may still be in the pipe.
  await delay(LOOK_MS);
}
