/** Tests of the operator, on the embedded apiserver: `node --test`, where the definition is. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { load, loadAll } from 'js-yaml';
import { resources } from 'kubeloom';
import { EventRecorder, LeaderElector, ObjectClient } from 'kubeloom/controller';
import { settled, startEmbeddedApiServer } from 'kubeloom/testing';
import { backups } from './backup.ts';
import type { Backup } from './backup.ts';
import { backupOperator } from './controller.ts';

const { cronJobs } = resources.batch.v1;
const definition = load(await readFile('backup-crd.yaml', 'utf8')) as object;
const photos: Backup = {
  metadata: { namespace: 'default', name: 'photos' },
  spec: { schedule: '0 3 * * *', claimName: 'photos' },
};

/** Starts a server with the definition and the whole operator on it; ends both after the test. */
async function start(t: TestContext) {
  const server = await startEmbeddedApiServer();
  await server.apply([
    { type: 'create', resource: 'customresourcedefinitions.apiextensions.k8s.io', object: definition },
  ]);
  const events: string[] = [];
  const deleted: string[] = [];
  const own = new ObjectClient(server.connection);
  const recorder = new EventRecorder(own, { component: 'backup-operator' });
  const manager = backupOperator(
    server.connection,
    {
      deleteCopies: async (backup) => void deleted.push(backup),
      recorder: {
        event(kind, object, event) {
          events.push(event.message);
          recorder.event(kind, object, event);
        },
      },
    },
    { leaderElector: new LeaderElector({ client: own, namespace: 'default', name: 'backup-operator' }) },
  );
  const stop = new AbortController();
  const running = manager.run({ signal: stop.signal });
  t.after(async () => {
    stop.abort();
    await running;
    await recorder.close();
    await server.close();
  });
  // The requests of the test are no rights of the operator.
  return { server, manager, recorder, client: new ObjectClient(server.admin), events, deleted };
}

test('a Backup becomes a CronJob, and its status says so', async (t) => {
  const { manager, client, events } = await start(t);
  await client.create(backups, photos);
  await settled(manager);
  const { spec, metadata } = await client.get(cronJobs, 'default/photos');
  assert.equal(spec?.schedule, '0 3 * * *');
  assert.equal(metadata?.ownerReferences?.[0]?.kind, 'Backup');
  const { status } = await client.get(backups, 'default/photos');
  assert.deepEqual(
    status?.conditions?.map(({ type, status: value }) => [type, value]),
    [['Ready', 'True']],
  );
  assert.deepEqual(events, ['Created CronJob photos']);
});

test('a field of the CronJob that another program changes is applied again, and its own fields stay', async (t) => {
  const { manager, client } = await start(t);
  await client.create(backups, photos);
  await settled(manager);
  await client.patch(cronJobs, 'default/photos', { spec: { suspend: true, successfulJobsHistoryLimit: 5 } });
  await settled(manager);
  const { spec } = await client.get(cronJobs, 'default/photos');
  assert.deepEqual([spec?.suspend, spec?.successfulJobsHistoryLimit], [false, 5]);
});

test('a Backup that is deleted takes its copies along, unless it retains them', async (t) => {
  const { manager, client, deleted } = await start(t);
  await client.create(backups, photos);
  await client.create(backups, {
    metadata: { namespace: 'default', name: 'letters' },
    spec: { ...photos.spec, deletionPolicy: 'Retain' },
  });
  await settled(manager);
  for (const name of ['photos', 'letters']) await client.delete(backups, `default/${name}`);
  await settled(manager);
  assert.deepEqual(deleted, ['default/photos']);
  await assert.rejects(client.get(backups, 'default/photos'), { code: 'ERR_KUBELOOM_NOT_FOUND' });
});

test('the operator needs the rights that its manifests grant', async (t) => {
  const { server, manager, recorder, client } = await start(t);
  await client.create(backups, photos);
  await settled(manager);
  await recorder.close();
  const rulesOf = (yaml: string) =>
    (loadAll(yaml) as { kind: string; rules?: object }[]).flatMap(({ kind, rules }) =>
      rules ? [{ kind, rules }] : [],
    );
  const manifests = await readFile('backup-operator/deployment.yaml', 'utf8');
  assert.deepEqual(rulesOf(manifests), rulesOf(await server.rbac()));
});
