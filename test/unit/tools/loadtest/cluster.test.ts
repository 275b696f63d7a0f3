/** The place of a run in the cluster: its heartbeat, and its removal. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KubeConfig } from '@kubernetes/client-node';
import { FakeClock, startEmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';
import type { EmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';
import { TestCluster, statusNamespaceOf, runIdOf } from '../../../../src/tools/loadtest/run/cluster.ts';
import type { ClusterAccess } from '../../../../src/tools/loadtest/run/cluster.ts';
import { HEARTBEAT_MS } from '../../../../src/tools/loadtest/run/dead-runs.ts';
import { presetText } from '../../../../src/tools/loadtest/workload/presets.ts';
import { readWorkload } from '../../../../src/tools/loadtest/workload/read-workload.ts';
import { ApiWriter } from '../../../../src/tools/loadtest/write/api-writer.ts';
import { ApiClient } from '../../../../src/http/api-client.ts';
import { failRequests } from '../apiserver/fail-requests.ts';

async function beats(server: EmbeddedApiServer): Promise<number> {
  return (await server.requests()).filter(({ method }) => method === 'PATCH').length;
}

async function access(server: EmbeddedApiServer, said: string[]): Promise<ClusterAccess> {
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromString(server.kubeConfigYaml);
  const api = new ApiWriter(kubeConfig);
  const { signal } = new AbortController();
  const say = (line: string): void => void said.push(line);
  const client = new ApiClient(kubeConfig);
  return { api, client, context: 'kind-test', signal, say };
}

const { workload } = readWorkload(presetText('smoke'), 'smoke', {}, 1);

describe('the place of a run', () => {
  it('has a heartbeat that survives refusals and ends with the run', async () => {
    await using server = await startEmbeddedApiServer({ isolation: 'none' });
    const said: string[] = [];
    const own = await access(server, said);
    const cluster = await TestCluster.find(own, workload);
    await cluster.create();
    const clock = new FakeClock();
    const ended = new AbortController();
    cluster.beatUntil(ended.signal, clock);
    await failRequests(server, 403, 1, { method: 'PATCH' });
    for (let beat = 1; beat <= 2; beat++) {
      clock.advance(HEARTBEAT_MS);
      await clock.waitForTimers(1);
      assert.equal(await beats(server), beat);
    }
    ended.abort();
    assert.equal(clock.pending, 0);
    assert.deepEqual(await cluster.remove(), []);
    // Nothing is left that another run would have to find.
    await cluster.removeDead();
    assert.deepEqual(said, []);
  });

  it('with a name is the same for all who know the name, and is taken until it is removed', async () => {
    await using server = await startEmbeddedApiServer({ isolation: 'none' });
    const own = await access(server, []);
    const cluster = await TestCluster.find(own, workload, 'nightly');
    await cluster.create();
    const again = await TestCluster.find(own, workload, 'nightly');
    assert.deepEqual(again.place, cluster.place);
    await assert.rejects(again.create(), {
      code: 'ERR_KUBELOOM_LOADTEST',
      message: 'the run nightly exists in this cluster: collect it, or choose another --run',
    });
    const runStatus = statusNamespaceOf(runIdOf('nightly'));
    const metadata = { name: 'index-0', labels: { 'app.kubernetes.io/managed-by': 'kubeloom-loadtest' } };
    await own.api.send('POST', `/api/v1/namespaces/${runStatus}/configmaps`, { metadata });
    // The run is another process's: a process that could not create it removes nothing of it.
    assert.deepEqual(await again.remove(), []);
    assert.equal((await server.state('configmaps')).size, 1);
    const collecting = await TestCluster.find(own, workload, 'nightly');
    assert.deepEqual(await collecting.remove(), []);
    assert.equal((await server.state('configmaps')).size, 0);
    const left = [...(await server.state('namespaces')).keys()].filter((name) => name.includes('loadtest'));
    assert.deepEqual(left, []);
  });

  it('is removed by uid: what something else has made under a name of the run stays', async () => {
    await using server = await startEmbeddedApiServer({ isolation: 'none' });
    const own = { ...(await access(server, [])), context: "kind-a b'c" };
    const cluster = await TestCluster.find(own, workload);
    await cluster.create();
    const [name = ''] = cluster.place.namespaces;
    const path = `/api/v1/namespaces/${name}`;
    await own.api.send('DELETE', path);
    const labels = { 'app.kubernetes.io/managed-by': 'kubeloom-loadtest' };
    await own.api.send('POST', '/api/v1/namespaces', { metadata: { name, labels } });
    assert.deepEqual(await cluster.remove(), []);
    assert.ok((await server.state('namespaces')).has(name));
    await failRequests(server, 403, 1, { method: 'DELETE' });
    const [left] = await cluster.remove();
    assert.equal(left?.command, `kubectl --context 'kind-a b'\\''c' delete namespace ${name}`);
  });
});
