/** Outage when a thread dies: time from its death to the first delivered change after its successor began. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { Scene } from '../../kit/scene.ts';
import { EXIT, InsideThreads, THROW } from './inside-threads.ts';
import type { ThreadFile } from './inside-threads.ts';

const DEATHS = 5;
const RATE = 500;
/** Generous; docs/reliability.md has the figures for a machine without other load. */
const OUTAGE_MS_MAX = 5000;

const CASES: readonly { readonly who: string; readonly file: ThreadFile; readonly deed: string }[] = [
  { who: 'a shard', file: 'piscina/dist/worker.js', deed: THROW },
  { who: 'the reflector', file: 'reflector.js', deed: EXIT },
];

for (const { who, file, deed } of CASES) {
  test(
    `C173 C174 when ${who} dies, handlers receive changes again within seconds, and receive all of them`,
    { timeout: 120_000 },
    async (context) => {
      await using scene = await Scene.start({
        server: { isolation: 'process' },
        threads: { restartsMax: 100 },
      });
      await scene.populate(1000);
      const { informer, handler } = await scene.watching();
      await using inside = await InsideThreads.open();
      const mix = { update: 1 };
      const load = scene.server.load({ rate: RATE, durationMs: 60_000, eventsMax: 15_000, mix });
      const outagesMs: number[] = [];
      for (let deaths = 1; deaths <= DEATHS; deaths++) {
        const alive = handler.calls.length;
        await handler.until(() => handler.calls.length > alive + RATE);
        const diedMs = performance.now();
        await inside.run(file, deed);
        while (scene.errors.length < deaths) await setTimeout(1);
        const replaced = handler.calls.length;
        await handler.until(() => handler.calls.length > replaced);
        outagesMs.push(Math.round(performance.now() - diedMs));
      }
      const { toRevision } = await load;
      await handler.reached(toRevision);
      await scene.assertEqualsServer(informer);
      assert.deepEqual(new Set(scene.codes()), new Set(['ERR_KUBELOOM_THREAD_RESTARTED']));
      context.diagnostic(`${who}: ${outagesMs.join(', ')} ms`);
      assert.ok(Math.max(...outagesMs) < OUTAGE_MS_MAX, `${outagesMs.join()} ms`);
    },
  );
}
