/** A server that answers as a test wants it, and a kubeconfig for it. */
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { KubeConfig } from '@kubernetes/client-node';

export const PODS = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', isNamespaced: true } as const;

/** A kubeconfig without credentials. */
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

  /** How many sockets are open. */
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

/** Until it is so; the test's own limit ends the waiting. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setImmediate(resolve));
}
