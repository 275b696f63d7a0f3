/** Cases about connections that hang, lose, drip or split data, or carry another protocol. */
import assert from 'node:assert/strict';
import { annotated, pod, put } from '../kit/objects.ts';
import { GONE, PLAIN_WATCH, onlyWatches, strike } from './cases-of-watches.ts';
import type { FaultCase } from './fault-case.ts';
import type { Scene } from './scene.ts';

const STALLED = 'ERR_KUBELOOM_STALLED';
const PROTOCOL = 'ERR_KUBELOOM_HTTP';
const RESET = 'ERR_KUBELOOM_CONNECTION_RESET';
const SILENCE_MS = 1000;
const MIB = 2 ** 20;
const UNREACHABLE = 'ERR_KUBELOOM_UNREACHABLE';

/** Waits from the first lost byte to the report. */
async function noticed(scene: Scene): Promise<string> {
  const startedAt = performance.now();
  await scene.untilReported(STALLED);
  const tookMs = performance.now() - startedAt;
  assert.ok(tookMs < SILENCE_MS + 2000, `noticed after ${tookMs} ms`);
  return `noticed after ${tookMs.toFixed(0)} ms`;
}

function residentMiB(): number {
  return process.memoryUsage().rss / MIB;
}

export const CASES_OF_SOCKETS: readonly FaultCase[] = [
  {
    id: '37a',
    what: "the server's process hangs: SIGSTOP, its kernel still answers",
    expected: 'noticed after 1 s of silence, resumes without a list',
    codes: [STALLED],
    mayReport: [UNREACHABLE, RESET],
    hasProxy: true,
    informer: { watch: { idleTimeoutMs: SILENCE_MS } },
    run: async (scene) => {
      scene.proxy.freeze();
      const seen = await noticed(scene);
      scene.proxy.thaw();
      await scene.untilReceived(50);
      return `${seen}: ${await onlyWatches(scene)}`;
    },
  },
  {
    id: '37b',
    what: 'half open: everything that the server sends is lost, without an error',
    expected: 'as 37a',
    codes: [STALLED],
    hasProxy: true,
    informer: { watch: { idleTimeoutMs: SILENCE_MS } },
    run: async (scene) => {
      await scene.proxy.mode({ kind: 'drop' });
      const seen = await noticed(scene);
      await scene.proxy.mode({ kind: 'pass' });
      await scene.untilReceived(50);
      return `${seen}: ${await onlyWatches(scene)}`;
    },
    mayReport: [RESET],
  },
  {
    id: '37c',
    what: 'the server itself is silent: open, and nothing arrives',
    expected: 'as 37a',
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
    what: 'a drip: 400 bytes a second and then one, for twelve seconds, of a stream of 200 KB a second',
    expected: 'no false alarm, memory does not grow; everything arrives when the flow resumes',
    hasProxy: true,
    isAlone: true,
    // The seven bytes between two chunks are no sign of life.
    informer: { watch: { idleTimeoutMs: 10 * SILENCE_MS } },
    run: async (scene) => {
      const before = residentMiB();
      await scene.proxy.mode({ kind: 'drip', bytes: 4, everyMs: 10 });
      await scene.sleep(1500);
      await scene.proxy.mode({ kind: 'pass' });
      await scene.untilReceived(50);
      await scene.proxy.mode({ kind: 'drip', bytes: 1, everyMs: 1000 });
      await scene.sleep(12_000);
      const grownMiB = residentMiB() - before;
      await scene.proxy.mode({ kind: 'pass' });
      await scene.untilReceived(50);
      assert.deepEqual(await scene.asked(), []);
      assert.ok(grownMiB < 64, `${grownMiB} MiB more`);
      return `the watch went on; memory ${grownMiB.toFixed(0)} MiB more`;
    },
  },
  {
    id: '40',
    what: 'a proxy holds back the head of the answer until the first event, after 3.5 s',
    expected: 'no false alarm with a limit of silence of 10 s, which covers the head',
    hasProxy: true,
    informer: { watch: { idleTimeoutMs: 10 * SILENCE_MS } },
    run: async (scene) => {
      await scene.stopLoad();
      const held = await scene.fault({ type: 'hold' }, PLAIN_WATCH);
      await scene.fault({ type: 'end' });
      await scene.untilLanded(held);
      await scene.proxy.mode({ kind: 'withhold' });
      await scene.heal(held);
      await scene.until(
        () => scene.proxy.landed.some(({ what }) => what === 'withhold'),
        'the head is held back',
      );
      await scene.sleep(3500);
      scene.startLoad(250);
      await scene.untilReceived(50);
      await scene.heal();
      return onlyWatches(scene);
    },
  },
  {
    id: '41',
    what: 'everything in writes of 3 bytes',
    expected: 'as without a fault',
    hasProxy: true,
    rate: 150,
    run: async (scene) => {
      await scene.proxy.mode({ kind: 'split', bytes: 3 });
      await strike(scene, { type: 'end' });
      await scene.untilReceived(50);
      await scene.proxy.mode({ kind: 'pass' });
      return onlyWatches(scene);
    },
  },
  {
    id: '42a',
    what: 'events of 1.5 MB, 3 MB and 16 MB, with a limit of 8 MiB',
    expected: 'complete up to the limit; above it identity and version only',
    threads: { indexerThreads: 2, objectBytesMax: 8 * MIB },
    run: bigObjects,
    hasBodies: false,
  },
  {
    id: '42b',
    what: 'a line that has no end',
    expected:
      'abandoned after 256 MiB, twice at the same position, then passed by a list; memory does not grow',
    codes: ['ERR_KUBELOOM_MALFORMED_EVENT'],
    isAlone: true,
    server: { isolation: 'process' },
    run: async (scene) => {
      const before = residentMiB();
      await strike(scene, { type: 'endless-line', megabytes: 400 }, { verb: 'watch' });
      await scene.untilReported('ERR_KUBELOOM_MALFORMED_EVENT');
      const grownMiB = residentMiB() - before;
      assert.ok(grownMiB < 128, `${grownMiB} MiB more`);
      return `${(await scene.asked()).join(', ')}; memory ${grownMiB.toFixed(0)} MiB more`;
    },
  },
  {
    id: '43',
    what: 'answers as gzip: truncated, a bomb of 1 GiB, gzip in gzip; and as br',
    expected: 'rejected at the head, nothing is inflated, memory does not grow',
    codes: [PROTOCOL],
    mayReport: [GONE],
    isAlone: true,
    server: { isolation: 'process' },
    run: async (scene) => {
      const before = residentMiB();
      for (const encoding of ['gzip', 'gzip, gzip', 'br']) {
        for (const body of ['truncated', 'bomb'] as const) {
          await scene.fault({ type: 'encoded', encoding, body }, PLAIN_WATCH);
          await strike(scene, { type: 'end' });
        }
      }
      const grownMiB = residentMiB() - before;
      assert.ok(grownMiB < 64, `${grownMiB} MiB more`);
      return `six refusals; memory ${grownMiB.toFixed(0)} MiB more`;
    },
  },
  {
    id: '45',
    what: 'a server that speaks HTTP/2: 100,000 SETTINGS frames',
    expected:
      'the client speaks HTTP/1.1 only: rejected at the first bytes, resumes when the server speaks it',
    codes: [PROTOCOL],
    mayReport: [RESET],
    hasProxy: true,
    run: async (scene) => {
      await scene.proxy.mode({ kind: 'http2' });
      await scene.proxy.reset();
      const cpu = process.cpuUsage();
      await scene.untilReported(PROTOCOL);
      await scene.sleep(500);
      const usedMs = Object.values(process.cpuUsage(cpu)).reduce((a, b) => a + b, 0) / 1000;
      await scene.proxy.mode({ kind: 'pass' });
      await scene.untilReceived(50);
      return `${usedMs.toFixed(0)} ms of CPU meanwhile, others included`;
    },
  },
];

async function bigObjects(scene: Scene): Promise<string> {
  for (const [name, megabytes] of Object.entries({ a: 1.5, b: 3, c: 16 }))
    await scene.apply(put(annotated(pod(`big-${name}`), { a: 'x'.repeat(megabytes * MIB) })));
  scene.own.push('big objects');
  const entry = (name: string): { readonly object: unknown } | undefined =>
    scene.informer.getStore().getByKey(`default/big-${name}`);
  await scene.until(() => entry('c') !== undefined, 'the last one is cached');
  assert.equal(JSON.stringify(entry('b')?.object).length > 3 * MIB, true);
  assert.throws(() => entry('c')?.object, { code: 'ERR_KUBELOOM_OBJECT_TOO_LARGE' });
  return '1.5 and 3 MB complete, 16 MB by identity';
}
