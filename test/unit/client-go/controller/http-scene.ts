/** A server whose responses the test defines, and a kubeconfig for it. */
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { KubeConfig } from '@kubernetes/client-node';
import { resources } from '../../../../src/kube/built-in.ts';
import type { ResourceRef } from '../../../../src/kube/resource.ts';

export const PODS: ResourceRef = resources.core.v1.pods;

/** Returns a kubeconfig without credentials. */
export function kubeConfigFor(server: string): KubeConfig {
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromClusterAndUser({ name: 'test', server, skipTLSVerify: true }, { name: 'nobody' });
  return kubeConfig;
}

export class AnsweringServer implements AsyncDisposable {
  readonly requests: string[] = [];
  readonly responses: ServerResponse[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async listen(
    answer: (request: IncomingMessage, response: ServerResponse) => void,
  ): Promise<AnsweringServer> {
    const http = createServer((request, response) => {
      server.requests.push(request.url ?? '');
      server.responses.push(response);
      answer(request, response);
    });
    const server = new AnsweringServer(http);
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get kubeConfig(): KubeConfig {
    const { port } = this.#server.address() as AddressInfo;
    return kubeConfigFor(`http://127.0.0.1:${port}`);
  }

  /** Number of open sockets. */
  connections(): Promise<number> {
    return new Promise((resolve, reject) =>
      this.#server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }
}

/** Waits until the condition holds; the test's own timeout ends the waiting. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setImmediate(resolve));
}
