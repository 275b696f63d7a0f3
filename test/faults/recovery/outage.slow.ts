/** Outage when a thread dies: time from its death to the first delivered change after its successor began. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { KubeloomError } from '../../../src/index.ts';
import { Harness, Recorder } from '../../unit/informer/pipeline/harness.ts';
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
      await using harness = await Harness.start(
        { threads: 2, codec: 'json' },
        { isolation: 'process' },
        { restartsMax: 100 },
      );
      await harness.server.populate({ count: 1000 });
      const informer = harness.informer();
      const recorder = new Recorder();
      informer.addEventHandler(recorder);
      await harness.synced(informer);
      await recorder.until(() => recorder.seen.length === 1000);
      await using inside = await InsideThreads.open();
      const load = harness.server.load({
        rate: RATE,
        durationMs: 60_000,
        eventsMax: 15_000,
        mix: { update: 1 },
      });
      const outagesMs: number[] = [];
      for (let deaths = 1; deaths <= DEATHS; deaths++) {
        const alive = recorder.seen.length;
        await recorder.until(() => recorder.seen.length > alive + RATE);
        const diedMs = performance.now();
        await inside.run(file, deed);
        while (harness.errors.length < deaths) await setTimeout(1);
        const replaced = recorder.seen.length;
        await recorder.until(() => recorder.seen.length > replaced);
        outagesMs.push(Math.round(performance.now() - diedMs));
      }
      const { toRevision } = await load;
      await recorder.until(() => Number(recorder.latest?.resourceVersion) >= toRevision);
      await harness.assertStoreEqualsServer(informer);
      const codes = new Set(harness.errors.map((error) => (error as KubeloomError).code));
      assert.deepEqual([...codes], ['ERR_KUBELOOM_THREAD_RESTARTED']);
      context.diagnostic(`${who}: ${outagesMs.join(', ')} ms`);
      assert.ok(Math.max(...outagesMs) < OUTAGE_MS_MAX, `${outagesMs.join()} ms`);
    },
  );
}
