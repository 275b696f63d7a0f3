/** An HTTP server on loopback with given answers, which records its requests, and an informer on it. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { KubeConfig } from '@kubernetes/client-node';
import type { ResourceRef } from '../../src/index.ts';

export const CONFIG_MAPS: ResourceRef = {
  group: '',
  version: 'v1',
  resource: 'configmaps',
  kind: 'ConfigMap',
  isNamespaced: true,
};

export class BareServer {
  readonly requests: IncomingMessage[] = [];
  readonly url: string;

  constructor(url: string) {
    this.url = url;
  }

  static async start(context: TestContext, listener: RequestListener): Promise<BareServer> {
    const server = createServer((request, response) => {
      bare.requests.push(request);
      listener(request, response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const bare = new BareServer(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    context.after(() => {
      server.close();
      server.closeAllConnections();
    });
    return bare;
  }

  /** @param items JSON of objects; watches are left open */
  static serving(context: TestContext, items: readonly string[]): Promise<BareServer> {
    return BareServer.start(context, (request, response) => answerList(request, response, items));
  }
}

function answerList(request: IncomingMessage, response: ServerResponse, items: readonly string[]): void {
  response.setHeader('content-type', 'application/json');
  if (request.url?.includes('watch=')) {
    response.flushHeaders();
    return;
  }
  const metadata = '{"resourceVersion":"9"}';
  response.end(
    `{"kind":"ConfigMapList","apiVersion":"v1","metadata":${metadata},"items":[${items.join(',')}]}`,
  );
}

/** @param user of the kubeconfig; @param cluster more of the cluster */
export function kubeConfigFor(server: string, user: object = {}, cluster: object = {}): KubeConfig {
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromOptions({
    clusters: [{ name: 'c', server, ...cluster }],
    users: [{ name: 'u', ...user }],
    contexts: [{ name: 'x', cluster: 'c', user: 'u' }],
    currentContext: 'x',
  });
  return kubeConfig;
}
