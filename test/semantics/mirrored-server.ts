/**
 * A server and its mirror as one server under the semantics suite: reads of the mirrored resources go to the mirror,
 * everything else to the origin. A mirror answers a read without a resourceVersion from its cache. So before such a read
 * this server changes an object of the resource at the origin, and waits until the mirror has that version.
 */

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { request as send } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Endpoint } from '../../src/apiserver/kubeconfig.ts';
import { resources } from '../../src/index.ts';
import { Mirror } from '../../src/mirror/mirror.ts';
import { Client } from './client.ts';
import { ok } from './fixture.ts';
import type { Target } from './target.ts';

/** The lists, watches and objects of the mirrored resources. */
const MIRRORED = /^\/api\/v1\/(?:namespaces\/[^/]+\/)?(configmaps|pods)(?:\/[^/]+)?$/;
/** The objects that are changed, by the path of their resource. */
const FENCES = new Map<string, object>([
  ['configmaps', {}],
  ['pods', { spec: { containers: [{ name: 'main', image: 'example.com/app:1' }] } }],
]);

export class MirroredServer implements AsyncDisposable {
  readonly #origin: Target;
  readonly #mirror: Mirror;
  readonly #endpoint: Endpoint;
  readonly #front: Server;

  private constructor(origin: Target, mirror: Mirror, endpoint: Endpoint) {
    this.#origin = origin;
    this.#mirror = mirror;
    this.#endpoint = endpoint;
    this.#front = createServer((request, response) => {
      this.#forward(request, response).catch(() => response.destroy());
    });
  }

  static async start(origin: Target): Promise<MirroredServer> {
    const { url: server, token, ca } = origin;
    const mirror = new Mirror({
      source: { server, token, ca },
      resources: [resources.core.v1.configMaps, resources.core.v1.pods],
      address: { port: 0, token },
      freshnessTimeoutMs: 50,
      backoff: { initialMs: 1, maxMs: 1, jitter: 0 },
      onError: () => {},
    });
    const mirrored = new MirroredServer(origin, mirror, await mirror.start());
    for (const [resource, object] of FENCES) {
      await new Client(origin).post(fencePath(resource, ''), { metadata: { name: 'fence' }, ...object });
    }
    await once(mirrored.#front.listen(0, '127.0.0.1'), 'listening');
    return mirrored;
  }

  get target(): Target {
    const { port } = this.#front.address() as AddressInfo;
    const forgetHistory = (): Promise<void> => this.#forgetHistory();
    return { url: `http://127.0.0.1:${port}`, token: this.#origin.token, ca: '', forgetHistory };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#front.closeAllConnections();
    this.#front.close();
    await this.#mirror.close();
  }

  /** Makes the mirror list again: of the time before the list it has no history. */
  async #forgetHistory(): Promise<void> {
    // Without a version that the mirror has not seen it could resume its watches.
    ok(
      await new Client(this.#origin).post('/api/v1/namespaces', {
        metadata: { name: `later-${randomUUID()}` },
      }),
    );
    await this.#origin.forgetHistory();
    for (const resource of FENCES.keys()) await this.#catchUp(resource);
  }

  /** Resolves when the mirror has every change of the resource up to now. */
  async #catchUp(resource: string): Promise<void> {
    const change = { metadata: { annotations: { change: randomUUID() } } };
    const { metadata } = ok(await new Client(this.#origin).mergePatch(fencePath(resource, '/fence'), change));
    const path = `${fencePath(resource, '/fence')}?resourceVersion=${metadata.resourceVersion}`;
    const mirror = new Client(this.#endpoint);
    while ((await mirror.get(path)).status !== 200);
  }

  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url: path = '/', headers } = request;
    const { pathname, searchParams } = new URL(path, 'http://localhost');
    const [, resource] = (method === 'GET' && MIRRORED.exec(pathname)) || [];
    const isOfNow = !searchParams.has('resourceVersion') && !searchParams.has('continue');
    if (resource !== undefined && isOfNow) await this.#catchUp(resource);
    const { url, ca } = resource === undefined ? this.#origin : this.#endpoint;
    const forwarded = send(`${url}${path}`, { method, headers, ca, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      response.flushHeaders();
      answer.pipe(response);
      answer.on('close', () => (answer.complete ? undefined : response.destroy()));
    });
    forwarded.on('error', () => response.destroy());
    response.on('close', () => forwarded.destroy());
    request.pipe(forwarded);
  }
}

function fencePath(resource: string, name: string): string {
  return `/api/v1/namespaces/default/${resource}${name}`;
}
