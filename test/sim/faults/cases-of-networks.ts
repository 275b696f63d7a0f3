/** Cases about connections that lose, drip or split data, or carry another protocol. */
import assert from 'node:assert/strict';
import type { FaultCase } from './fault-case.ts';
import type { Mode } from './network.ts';
import type { SimulatedScene as Scene } from './simulated-scene.ts';
import { PLAIN_WATCH, RESET, onlyWatches, strike } from './strikes.ts';

const STALLED = 'ERR_KUBELOOM_STALLED';
const PROTOCOL = 'ERR_KUBELOOM_HTTP';
const SILENCE_MS = 1000;

/** Waits for the report of a silence that begins now. */
async function noticed(scene: Scene): Promise<string> {
  const startedMs = scene.now;
  await scene.untilReported(STALLED);
  const tookMs = scene.now - startedMs;
  assert.ok(tookMs >= SILENCE_MS - 10 && tookMs <= 2 * SILENCE_MS, `noticed after ${tookMs} ms`);
  return `noticed after ${tookMs.toFixed(0)} ms`;
}

/** Applies a mode of the network for a time. */
async function during(scene: Scene, mode: Mode, ms: number): Promise<void> {
  scene.world.network.mode = mode;
  await scene.pass(ms);
  scene.world.network.mode = { kind: 'pass' };
}

export const CASES_OF_NETWORKS: readonly FaultCase<Scene>[] = [
  {
    id: '37b',
    what: 'half open: everything that the server sends is lost, without an error',
    expected: 'noticed after 1 s of silence, resumes without a list',
    codes: [STALLED],
    mayReport: [RESET],
    informer: { watch: { idleTimeoutMs: SILENCE_MS } },
    run: async (scene) => {
      scene.world.network.mode = { kind: 'drop' };
      const seen = await noticed(scene);
      scene.world.network.mode = { kind: 'pass' };
      await scene.untilReceived(50);
      return `${seen}: ${await onlyWatches(scene)}`;
    },
  },
  {
    id: '37c',
    what: 'the server itself is silent: open, and nothing arrives',
    expected: 'as 37b',
    codes: [STALLED],
    informer: { watch: { idleTimeoutMs: SILENCE_MS } },
    run: async (scene) => {
      await scene.untilLanded(await scene.fault({ type: 'mute' }, { verb: 'watch' }));
      const seen = await noticed(scene);
      await scene.untilReceived(50);
      await scene.heal();
      return `${seen}: ${await onlyWatches(scene)}`;
    },
  },
  {
    id: '39',
    what: 'a drip: 400 bytes a second and then one, for twelve seconds, of a stream of 60 KB a second',
    expected: 'no false alarm; everything arrives when the flow resumes',
    // The bytes between two chunks are no sign of life.
    informer: { watch: { idleTimeoutMs: 10 * SILENCE_MS } },
    run: async (scene) => {
      await during(scene, { kind: 'drip', bytes: 4, everyMs: 10 }, 1500);
      await scene.untilReceived(50);
      await during(scene, { kind: 'drip', bytes: 1, everyMs: 1000 }, 12_000);
      await scene.untilReceived(50);
      assert.deepEqual(await scene.asked(), []);
      return 'the watch went on';
    },
  },
  {
    id: '40',
    what: 'a proxy holds back the head of the answer until the first event, after 3.5 s',
    expected: 'no false alarm with a limit of silence of 10 s, which covers the head',
    informer: { watch: { idleTimeoutMs: 10 * SILENCE_MS } },
    run: async (scene) => {
      scene.stopLoad();
      await scene.untilCurrent();
      const held = await scene.fault({ type: 'hold' }, PLAIN_WATCH);
      await scene.fault({ type: 'end' });
      await scene.untilLanded(held);
      scene.world.network.mode = { kind: 'withhold' };
      await scene.heal(held);
      await scene.pass(3500);
      assert.ok(scene.strikes.includes('withhold'), 'the head is held back');
      scene.startLoad();
      await scene.untilReceived(50);
      await scene.heal();
      return onlyWatches(scene);
    },
  },
  {
    id: '41',
    what: 'everything in reads of 3 bytes',
    expected: 'as without a fault',
    run: async (scene) => {
      scene.world.network.mode = { kind: 'split', bytes: 3 };
      await strike(scene, { type: 'end' });
      return onlyWatches(scene);
    },
  },
  {
    id: '45',
    what: 'a server that speaks HTTP/2: 100,000 SETTINGS frames',
    expected:
      'the client speaks HTTP/1.1 only: rejected at the first bytes, resumes when the server speaks it',
    codes: [PROTOCOL],
    mayReport: [RESET],
    run: async (scene) => {
      const { network } = scene.world;
      network.mode = { kind: 'http2' };
      network.reset();
      await scene.untilReported(PROTOCOL);
      network.mode = { kind: 'pass' };
      await scene.untilReceived(50);
      return onlyWatches(scene);
    },
  },
];
