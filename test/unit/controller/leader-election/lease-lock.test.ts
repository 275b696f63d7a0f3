/** Elections on Leases of the embedded apiserver. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startEmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';
import type { EmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';
import { LeaderElector, ObjectClient } from '../../../../src/controller/index.ts';
import type { LeaderElectionRecord } from '../../../../src/controller/index.ts';
import { LeaseLock } from '../../../../src/controller/leader-election/lease-lock.ts';
import { resources } from '../../../../src/index.ts';
import { failRequests } from '../../tools/apiserver/fail-requests.ts';
import { aborted } from './scene.ts';

const { leases } = resources.coordination.v1;
const NEVER = new AbortController().signal;
const KEY = { namespace: 'default', name: 'my-controller' };
const RECORD: LeaderElectionRecord = {
  holderIdentity: 'me',
  leaseDurationSeconds: 15,
  acquireTime: '2026-01-01T00:00:00.000000Z',
  renewTime: '2026-01-01T00:00:01.000000Z',
  leaseTransitions: 2,
};

const clientOf = ({ connection }: EmbeddedApiServer): ObjectClient => new ObjectClient(connection);

describe('LeaseLock', () => {
  test('creates, reads and replaces a record', async () => {
    await using server = await startEmbeddedApiServer({ isolation: 'none' });
    const lock = new LeaseLock({ client: clientOf(server), ...KEY, identity: 'me' });
    assert.equal(lock.describe(), 'default/my-controller');
    assert.equal(await lock.get(NEVER), undefined);
    const created = await lock.create(RECORD, NEVER);
    assert.deepEqual(created.record, RECORD);
    assert.deepEqual(await lock.get(NEVER), created);
    const renewed = { ...RECORD, renewTime: '2026-01-01T00:00:03.000000Z' };
    const updated = await lock.update(created, renewed, NEVER);
    assert.deepEqual(updated.record, renewed);
    await assert.rejects(lock.create(RECORD, NEVER), { code: 'ERR_KUBELOOM_ALREADY_EXISTS' });
    await assert.rejects(lock.update(created, RECORD, NEVER), { code: 'ERR_KUBELOOM_CONFLICT' });
  });

  test('leaves labels and the fields of coordinated elections alone', async () => {
    await using server = await startEmbeddedApiServer({ isolation: 'none' });
    const client = clientOf(server);
    const labels = { app: 'web' };
    const foreign = { strategy: 'OldestEmulationVersion', preferredHolder: 'another' };
    await client.create(leases, { metadata: { ...KEY, labels }, spec: foreign });
    const lock = new LeaseLock({ client, ...KEY, identity: 'me' });
    const stored = await lock.get(NEVER);
    const zero = { holderIdentity: '', leaseDurationSeconds: 0, leaseTransitions: 0 };
    assert.deepEqual(stored?.record, { ...zero, acquireTime: '', renewTime: '' });
    await lock.update(stored, RECORD, NEVER);
    const { metadata, spec } = await client.get(leases, KEY);
    assert.deepEqual([metadata?.labels, spec], [labels, { ...foreign, ...RECORD }]);
  });

  test('rejects with the error of the server', async () => {
    await using server = await startEmbeddedApiServer({ isolation: 'none' });
    await failRequests(server, 403, 1, { resource: 'leases' });
    const lock = new LeaseLock({ client: clientOf(server), ...KEY, identity: 'me' });
    await assert.rejects(lock.get(NEVER), { code: 'ERR_KUBELOOM_FORBIDDEN' });
  });
});

describe('LeaderElector on a Lease', () => {
  test('leads, renews, and hands the lease to the next candidate', async () => {
    await using server = await startEmbeddedApiServer({ isolation: 'none' });
    const client = clientOf(server);
    const timings = { leaseDurationMs: 30_000, renewDeadlineMs: 20_000, retryPeriodMs: 20 };
    const order: string[] = [];
    const errors: unknown[] = [];
    const onError = (error: unknown): unknown => errors.push(error);
    for (const identity of ['a', 'b']) {
      const elector = new LeaderElector({ client, ...KEY, identity, ...timings, onError });
      const stop = new AbortController();
      await elector.run({ signal: stop.signal }, async (signal) => {
        order.push(`${identity} leads`);
        const renewed = await renewal(client);
        assert.equal(renewed?.holderIdentity, identity);
        setImmediate(() => stop.abort());
        await aborted(signal);
        order.push(`${identity} ends`);
      });
    }
    assert.deepEqual(order, ['a leads', 'a ends', 'b leads', 'b ends']);
    assert.deepEqual(errors, []);
    const { spec } = await client.get(leases, KEY);
    const { holderIdentity, leaseDurationSeconds, leaseTransitions } = spec ?? {};
    assert.deepEqual([holderIdentity, leaseDurationSeconds, leaseTransitions], ['', 1, 1]);
  });
});

/** Waits for a renewal, and returns the spec. */
async function renewal(client: ObjectClient): Promise<Partial<LeaderElectionRecord> | undefined> {
  const before = await client.get(leases, KEY);
  for (;;) {
    const now = await client.get(leases, KEY);
    if (now.spec?.renewTime !== before.spec?.renewTime) return now.spec;
  }
}
