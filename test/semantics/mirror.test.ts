/**
 * The reading half of the semantics suite against a mirror of an embedded apiserver. Writes go to the origin. Before a read
 * the mirror receives what was written, because its reads without a resourceVersion are those of a cache.
 */

import { createServer, request as send } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, describe } from 'node:test';
import { startEmbeddedApiServer } from '../../src/apiserver/testing/index.ts';
import type { EmbeddedApiServer } from '../../src/apiserver/testing/index.ts';
import { resources } from '../../src/index.ts';
import { Mirror } from '../../src/mirror/mirror.ts';
import { TemporaryFolder } from '../kit/temporary-folder.ts';
import { expirySemantics } from './expiry.ts';
import { listSemantics } from './list.ts';
import { paginationSemantics } from './pagination.ts';
import { selectorSemantics } from './selectors.ts';
import type { Target } from './target.ts';
import { watchListSemantics } from './watch-list.ts';
import { watchSemantics } from './watch.ts';

const MIRRORED = [resources.core.v1.configMaps, resources.core.v1.pods];
const READ = /^\/api\/v1\/(?:namespaces\/[^/]+\/)?(?:configmaps|pods|widgets)(?:[/?]|$)/;

/** The origin and its mirror as one server: reads of the mirrored resources go to the mirror. */
class MirroredServer implements AsyncDisposable {
  readonly #folder = new TemporaryFolder();
  readonly #socketPath = this.#folder.file('mirror.sock');
  readonly #front: Server;
  readonly #origin: EmbeddedApiServer;
  readonly #mirror: Mirror;

  constructor(origin: EmbeddedApiServer) {
    this.#origin = origin;
    this.#mirror = new Mirror({
      source: origin.connection,
      resources: MIRRORED,
      address: { socketPath: this.#socketPath },
      freshnessTimeoutMs: 50,
      backoff: { initialMs: 1, maxMs: 1, jitter: 0 },
      onError: () => {},
    });
    this.#front = createServer((request, response) => {
      this.#forward(request, response).catch(() => response.destroy());
    });
  }

  async target(): Promise<Target> {
    await this.#mirror.start();
    this.#front.listen(0, '127.0.0.1');
    await once(this.#front, 'listening');
    const { port } = this.#front.address() as AddressInfo;
    const forgetHistory = (): Promise<void> => this.#forgetHistory();
    return { url: `http://127.0.0.1:${port}`, token: this.#origin.token, ca: '', forgetHistory };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#front.closeAllConnections();
    this.#front.close();
    await this.#mirror.close();
    await this.#origin.close();
    await this.#folder[Symbol.asyncDispose]();
  }

  /** Makes the mirror list again: of the time before the list it has no history. */
  async #forgetHistory(): Promise<void> {
    await this.#origin.apply([
      { type: 'put', resource: 'namespaces', object: { metadata: { name: `later-${crypto.randomUUID()}` } } },
    ]);
    const revision = await this.#origin.compact();
    await this.#origin.expireWatches();
    await this.#received(revision);
  }

  async #received(revision: number): Promise<void> {
    for (const resource of MIRRORED) {
      do await this.#origin.sendBookmarks();
      while (!(await this.#mirror.reached(resource, String(revision))));
    }
  }

  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/', headers } = request;
    const isRead = method === 'GET' && READ.test(url);
    if (isRead) {
      const revision = await this.#origin.revision();
      await this.#received(revision);
    }
    const { hostname, port } = new URL(this.#origin.url);
    const address = isRead ? { socketPath: this.#socketPath } : { hostname, port };
    const forwarded = send({ ...address, method, path: url, headers, agent: false }, (answer) => {
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

let starting: Promise<MirroredServer> | undefined;
let listening: Promise<Target> | undefined;

async function start(): Promise<MirroredServer> {
  return new MirroredServer(await startEmbeddedApiServer({ tls: false, freshnessTimeoutMs: 50 }));
}

function target(): Promise<Target> {
  starting ??= start();
  return (listening ??= starting.then((server) => server.target()));
}

after(async () => (await starting)?.[Symbol.asyncDispose]());

describe('apiserver semantics: a mirror', () => {
  listSemantics(target);
  paginationSemantics(target);
  watchSemantics(target);
  watchListSemantics(target);
  selectorSemantics(target);
  expirySemantics(target);
});
