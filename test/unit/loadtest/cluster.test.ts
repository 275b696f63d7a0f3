/** The place of a run in the cluster: its heartbeat, and its removal. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KubeConfig } from '@kubernetes/client-node';
import { FakeClock, startEmbeddedApiServer } from '../../../src/apiserver/testing/index.ts';
import type { EmbeddedApiServer } from '../../../src/apiserver/testing/index.ts';
import { TestCluster } from '../../../src/loadtest/run/cluster.ts';
import { HEARTBEAT_MS } from '../../../src/loadtest/run/dead-runs.ts';
import { presetText } from '../../../src/loadtest/workload/presets.ts';
import { readWorkload } from '../../../src/loadtest/workload/read-workload.ts';
import { ApiWriter } from '../../../src/loadtest/write/api-writer.ts';
import { ApiClient } from '../../../src/reflector/api-client.ts';
import { failRequests } from '../apiserver/fail-requests.ts';

async function beats(server: EmbeddedApiServer): Promise<number> {
  return (await server.requests()).filter(({ method }) => method === 'PATCH').length;
}

describe('the place of a run', () => {
  it('has a heartbeat that survives refusals and ends with the run', async () => {
    await using server = await startEmbeddedApiServer({ isolation: 'none' });
    const kubeConfig = new KubeConfig();
    kubeConfig.loadFromString(server.kubeConfigYaml);
    const api = new ApiWriter(kubeConfig);
    const { signal } = new AbortController();
    const said: string[] = [];
    const cluster = await TestCluster.find(
      {
        api,
        client: new ApiClient(kubeConfig),
        context: 'kind-test',
        signal,
        say: (line) => said.push(line),
      },
      readWorkload(presetText('smoke'), 'smoke', {}, 1).workload,
    );
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
});
