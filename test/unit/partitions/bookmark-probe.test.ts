/** A short watch that tells whether a collection has changed, against the embedded apiserver. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startEmbeddedApiServer } from '../../../src/tools/apiserver/testing/index.ts';
import type { EmbeddedApiServer, FaultAction } from '../../../src/tools/apiserver/testing/index.ts';
import { changesSince } from '../../../src/partitions/bookmark-probe.ts';
import type { WatchedChanges } from '../../../src/partitions/bookmark-probe.ts';
import { ApiClient } from '../../../src/http/api-client.ts';

const PODS = '/api/v1/pods';
const { signal } = new AbortController();

function since(server: EmbeddedApiServer, from: number): Promise<WatchedChanges | undefined> {
  return changesSince(new ApiClient(server.connection), PODS, String(from), signal);
}

function create(server: EmbeddedApiServer, resource: string): Promise<unknown> {
  const object = { metadata: { name: 'a', namespace: 'default' } };
  return server.apply([{ type: 'create', resource, object }]);
}

describe('a short watch', () => {
  test('has the version up to which nothing has changed, and that of a change', async () => {
    await using server = await startEmbeddedApiServer({ isolation: 'none' });
    const empty = await server.revision();
    await create(server, 'configmaps');
    const quiet = await server.revision();
    const unchanged = await since(server, empty);
    assert.deepEqual(unchanged, { lastChange: undefined, until: String(quiet) });
    await create(server, 'pods');
    const lastChange = String(await server.revision());
    await server.apply([{ type: 'delete', resource: 'configmaps', namespace: 'default', name: 'a' }]);
    const changed = await since(server, empty);
    assert.deepEqual(changed, { lastChange, until: String(await server.revision()) });
  });

  for (const [what, action] of [
    ['ends with an error', { type: 'error-event', status: { code: 410, reason: 'Expired' } }],
    ['ends without a word', { type: 'end' }],
  ] as [string, FaultAction][]) {
    test(`tells nothing when it ${what}`, async () => {
      await using server = await startEmbeddedApiServer({ isolation: 'none' });
      await server.setFaults({ rules: [{ faultId: 'end', match: { verb: 'watch' }, action }] });
      assert.equal(await since(server, await server.revision()), undefined);
    });
  }
});
