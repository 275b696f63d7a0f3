/** Handlers receive every change in the server's log, in order, in all variants. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Harness, Recorder, VARIANTS, pod } from './harness.ts';

for (const variant of VARIANTS) {
  describe(`with threads: ${variant.threads} and codec ${variant.codec}`, () => {
    test('C4 C7 a handler sees the initial list and then exactly the changes of the log, in its order', async () => {
      await using harness = await Harness.start(variant);
      await harness.server.populate({ count: 300 });
      const from = await harness.server.revision();
      const informer = harness.informer();
      const recorder = new Recorder();
      const registration = informer.addEventHandler(recorder);
      await harness.synced(informer);
      await informer.waitForSync({ registration });
      assert.equal(recorder.seen.length, 300);
      assert.ok(recorder.seen.every(({ type, isInInitialList }) => type === 'ADDED' && isInInitialList));

      const report = await harness.server.load({
        rate: 'max',
        durationMs: 10_000,
        eventsMax: 5_000,
        mix: { update: 0.8, create: 0.1, delete: 0.1 },
      });
      await recorder.until(() => Number(recorder.latest?.resourceVersion) >= report.toRevision);
      const log = await harness.server.log('pods', from);
      const expected = Array.from(log, ([revision, type, key]) => `${type} ${key}@${revision}`);
      const actual = recorder.seen
        .slice(300)
        .map((seen) => `${seen.type} ${seen.key}@${seen.resourceVersion}`);
      assert.deepEqual(actual, expected);
      await harness.assertStoreEqualsServer(informer);
      assert.deepEqual(harness.errors, []);
    });

    test('C6 C15 the entry of a notification is the entry in the store, and its object is what was written', async () => {
      await using harness = await Harness.start(variant);
      const informer = harness.informer();
      const findings: unknown[] = [];
      const recorder = new Recorder();
      informer.addEventHandler({
        onAdd: (added, isInInitialList) => {
          const cached = informer.getStore().getByKey(added.key);
          findings.push(cached === added || cached?.resourceVersion !== added.resourceVersion);
          findings.push(added.object.spec?.containers[0]?.image, added.labels, added.metadata.name);
          // In the same handler: another handler may receive it earlier.
          recorder.onAdd(added, isInInitialList);
        },
      });
      await harness.synced(informer);
      await harness.server.apply([{ type: 'create', resource: 'pods', object: pod('grün', { app: 'wéb' }) }]);
      await recorder.until(() => recorder.seen.length === 1);
      assert.deepEqual(findings, [true, 'registry/app:1', { app: 'wéb' }, 'grün']);
      const cached = informer.getStore().getByKey('default/grün');
      assert.equal(cached?.object.kind, 'Pod');
      assert.equal(cached?.object.apiVersion, 'v1');
      assert.deepEqual(JSON.parse(String(cached?.bytes())), cached?.object);
    });

    test('C2 the cache converges after every way in which a watch can end', async () => {
      await using harness = await Harness.start(variant);
      await harness.server.populate({ count: 100 });
      const informer = harness.informer();
      const recorder = new Recorder();
      informer.addEventHandler(recorder);
      await harness.synced(informer);
      const { server } = harness;
      const breaks = [
        () => server.dropWatches({ how: 'close' }),
        () => server.dropWatches({ how: 'reset' }),
        () => server.dropWatches({ how: 'resetMidLine' }),
        () => server.expireWatches(),
        () => server.restart(),
      ];
      for (const [round, breakWatch] of breaks.entries()) {
        await server.waitForWatches(1);
        const load = server.load({ rate: 4000, durationMs: 250, seed: round + 1 });
        await breakWatch();
        const { toRevision } = await load;
        await recorder.until(() => Number(informer.lastSyncResourceVersion()) >= toRevision);
        await harness.assertStoreEqualsServer(informer);
      }
      const versions = new Map<string, number>();
      for (const { key, resourceVersion, type } of recorder.seen) {
        const version = Number(resourceVersion);
        assert.ok((versions.get(key) ?? 0) <= version, `C3 ${key} went back to ${resourceVersion}`);
        assert.notEqual(type, 'DELETED');
        versions.set(key, version);
      }
    });
  });
}
