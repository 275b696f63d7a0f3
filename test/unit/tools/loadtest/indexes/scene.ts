/** A server with the namespace of the status of a run, for tests of what indexes write there. */
import { KubeConfig } from '@kubernetes/client-node';
import { startEmbeddedApiServer } from '../../../../../src/tools/apiserver/testing/index.ts';
import type { EmbeddedApiServer } from '../../../../../src/tools/apiserver/testing/index.ts';
import { statusNamespaceOf } from '../../../../../src/tools/loadtest/run/cluster.ts';
import { ApiWriter } from '../../../../../src/tools/loadtest/write/api-writer.ts';
import { ApiClient } from '../../../../../src/http/api-client.ts';

export const RUN = '0123abcd';

export interface RunStatusScene extends AsyncDisposable {
  readonly server: EmbeddedApiServer;
  readonly kubeConfig: KubeConfig;
  readonly api: ApiWriter;
  readonly client: ApiClient;
  createNamespace(): Promise<void>;
}

export async function boardScene(): Promise<RunStatusScene> {
  const server = await startEmbeddedApiServer({ isolation: 'none' });
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromString(server.kubeConfigYaml);
  const api = new ApiWriter(kubeConfig);
  return {
    server,
    kubeConfig,
    api,
    client: new ApiClient(kubeConfig),
    async createNamespace() {
      const metadata = { name: statusNamespaceOf(RUN) };
      await api.send('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata });
    },
    [Symbol.asyncDispose]: () => server.close(),
  };
}
