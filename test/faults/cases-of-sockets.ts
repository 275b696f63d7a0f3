/** Cases about a server's process that hangs, and about answers that would fill the memory. */
import assert from 'node:assert/strict';
import {
  GONE,
  PLAIN_WATCH,
  RESET,
  UNREACHABLE,
  onlyWatches,
  relistedFrom,
  strike,
} from '../sim/faults/strikes.ts';
import type { RealCase } from './scene.ts';

const MALFORMED = 'ERR_KUBELOOM_MALFORMED_EVENT';
/** Length at which the library abandons a line. */
const LINE_MIB_MAX = 256;
const BOMB_MIB = 1024;

function residentMiB(): number {
  return process.memoryUsage().rss / 2 ** 20;
}

export const CASES_OF_SOCKETS: readonly RealCase[] = [
  {
    id: '37a',
    place: 'sockets',
    what: "the server's process hangs: SIGSTOP, its kernel still answers",
    expected: 'noticed by the silence, resumes without a list',
    codes: ['ERR_KUBELOOM_STALLED'],
    mayReport: [UNREACHABLE, RESET],
    hasProxy: true,
    informer: { watch: { idleTimeoutMs: 1000 } },
    run: async (scene) => {
      scene.proxy.freeze();
      await scene.untilReported('ERR_KUBELOOM_STALLED');
      scene.proxy.thaw();
      await scene.untilReceived(50);
      return onlyWatches(scene);
    },
  },
  {
    id: '42b',
    place: 'process',
    what: 'a line that has no end',
    expected: 'abandoned after 256 MiB and requested again; less than half of it was in memory',
    codes: [MALFORMED],
    server: { isolation: 'process' },
    run: async (scene) => {
      const before = residentMiB();
      let grownMiB = 0;
      await scene.fault({ type: 'endless-line', megabytes: 400 }, { verb: 'watch' });
      await scene.until(() => {
        grownMiB = Math.max(grownMiB, residentMiB() - before);
        return scene.codes().includes(MALFORMED);
      }, `${MALFORMED} is reported`);
      assert.ok(grownMiB < LINE_MIB_MAX / 2, `${grownMiB} MiB more`);
      return `${await relistedFrom(scene, /^watch \d+/)}; memory ${grownMiB.toFixed(0)} MiB more`;
    },
  },
  {
    id: '43',
    place: 'process',
    what: 'answers as gzip: truncated, a bomb of 1 GiB, gzip in gzip; and as br',
    expected: 'rejected at the head, the bomb is not inflated',
    codes: ['ERR_KUBELOOM_HTTP'],
    mayReport: [GONE],
    server: { isolation: 'process' },
    run: async (scene) => {
      const before = residentMiB();
      let grownMiB = 0;
      for (const encoding of ['gzip', 'gzip, gzip', 'br']) {
        for (const body of ['truncated', 'bomb'] as const) {
          await scene.fault({ type: 'encoded', encoding, body }, PLAIN_WATCH);
          await strike(scene, { type: 'end' });
          grownMiB = Math.max(grownMiB, residentMiB() - before);
        }
      }
      assert.ok(grownMiB < BOMB_MIB / 4, `${grownMiB} MiB more`);
      return `six refusals; memory ${grownMiB.toFixed(0)} MiB more`;
    },
  },
  {
    id: '43b',
    place: 'process',
    what: 'answers in gzip that was requested: truncated, and a bomb of 1 GiB',
    expected: 'ended with a code and requested again; less than a quarter of the bomb was in memory',
    codes: ['ERR_KUBELOOM_VERY_SHORT_WATCH'],
    mayReport: [GONE],
    server: { isolation: 'process' },
    informer: { compression: 'on' },
    run: async (scene) => {
      const before = residentMiB();
      let grownMiB = 0;
      for (const body of ['truncated', 'bomb'] as const) {
        await scene.fault({ type: 'encoded', encoding: 'gzip', body }, PLAIN_WATCH);
        await strike(scene, { type: 'end' });
        grownMiB = Math.max(grownMiB, residentMiB() - before);
      }
      assert.ok(grownMiB < BOMB_MIB / 4, `${grownMiB} MiB more`);
      return `two answers; memory ${grownMiB.toFixed(0)} MiB more`;
    },
  },
];
