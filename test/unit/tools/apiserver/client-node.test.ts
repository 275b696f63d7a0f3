/** client-node, the most common client, connected to the embedded server by its kubeconfig. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CoreV1Api, KubeConfig, Watch } from '@kubernetes/client-node';
import { startEmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';

describe('@kubernetes/client-node', () => {
  it('reads, writes and watches with the kubeconfig as YAML and as an object', async () => {
    await using server = await startEmbeddedApiServer();
    for (const text of [server.kubeConfigYaml, JSON.stringify(server.kubeConfig)]) {
      const config = new KubeConfig();
      config.loadFromString(text);
      const api = config.makeApiClient(CoreV1Api);
      const { metadata } = await api.createNamespacedConfigMap({
        namespace: 'default',
        body: { metadata: { generateName: 'made-' }, data: { key: 'value' } },
      });
      const name = metadata?.name ?? '';
      const list = await api.listNamespacedConfigMap({ namespace: 'default' });
      assert.ok(list.items.some((item) => item.metadata?.name === name));
      await api.deleteNamespacedConfigMap({ namespace: 'default', name });

      const seen = await new Promise<string>((resolve, reject) => {
        const path = '/api/v1/namespaces/default/configmaps';
        const query = { resourceVersion: metadata?.resourceVersion ?? '' };
        const started = new Watch(config).watch(path, query, (type) => resolve(type), reject);
        started.then((controller) => server.dropWatches({ how: 'close' }).then(() => controller), reject);
      });
      assert.equal(seen, 'DELETED');
    }
  });

  it('gets large lists compressed, as from a real server', async () => {
    await using server = await startEmbeddedApiServer({ tls: false, token: '' });
    await server.populate({ count: 300, objectBytes: 2_000 });
    const large = await fetch(`${server.url}/api/v1/pods`, { headers: { 'accept-encoding': 'gzip' } });
    assert.equal(large.headers.get('content-encoding'), 'gzip');
    assert.equal(((await large.json()) as { items: unknown[] }).items.length, 300);
    const plain = await fetch(`${server.url}/api/v1/pods`, { headers: { 'accept-encoding': 'identity' } });
    assert.equal(plain.headers.get('content-encoding'), null);
    assert.equal(((await plain.json()) as { items: unknown[] }).items.length, 300);
    const small = await fetch(`${server.url}/api/v1/pods?limit=10`, {
      headers: { 'accept-encoding': 'gzip' },
    });
    assert.equal(small.headers.get('content-encoding'), null);
  });
});
