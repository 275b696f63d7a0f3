/** A control plane and threads for all clauses of the contract, and which clauses their tests have cited. */
import { after, before, test } from 'node:test';
import { InformerThreads } from '../../src/index.ts';
import { citedBy } from '../contract/clauses.ts';
import { ServerScene } from './contract-scene.ts';
import { startControlPlane } from './control-plane.ts';
import type { ControlPlane } from './control-plane.ts';

/** Nothing here takes so long: what hangs ends with the title of its test. */
const PATIENT = { timeout: 120_000 } as const;

const titles: string[] = [];
let running: ControlPlane | undefined;
let shared: InformerThreads | undefined;

before(async () => {
  running = await startControlPlane();
  shared = new InformerThreads({ threads: 2 });
});
after(async () => {
  await shared?.close();
  await running?.stop();
});

/** Within tests. */
export function controlPlane(): ControlPlane {
  if (!running) throw new Error('no test has begun');
  return running;
}

/** Within tests. */
export function sharedThreads(): InformerThreads {
  if (!shared) throw new Error('no test has begun');
  return shared;
}

/** A test in a namespace of its own. */
export function proves(title: string, body: (scene: ServerScene) => Promise<void>): void {
  titles.push(title);
  test(title, PATIENT, async () => {
    await using scene = await ServerScene.start(controlPlane(), sharedThreads());
    await body(scene);
  });
}

/** By the tests that have been registered. */
export function citedClauses(): ReadonlySet<string> {
  return new Set(titles.flatMap(citedBy));
}
