/** GETs of the command line: the refused answers, and a code for every failure. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { ApiClient } from '../../../src/cli/api-get.ts';
import { startEmbeddedApiServer } from '../../../src/apiserver/testing/index.ts';

const NEVER = new AbortController().signal;

class TestServer implements AsyncDisposable {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(listener: RequestListener): Promise<TestServer> {
    const server = createServer(listener);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TestServer(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

function clientOf(server: string, signal: AbortSignal = NEVER): ApiClient {
  return new ApiClient({ server, headers: { authorization: 'Bearer secret' } }, signal);
}

describe('a GET', () => {
  it('returns the body of an embedded apiserver over TLS', async () => {
    await using server = await startEmbeddedApiServer({ isolation: 'none' });
    const connection = { server: server.url, headers: { authorization: `Bearer ${server.token}` } };
    await using client = new ApiClient({ ...connection, ca: server.ca }, NEVER);
    const document = await client.getJson('/api/v1');
    assert.equal(Reflect.get(Object(document), 'groupVersion'), 'v1');
  });

  it('refuses a server whose certificate is not signed by the CA', async () => {
    await using server = await startEmbeddedApiServer({ isolation: 'none' });
    await using client = clientOf(server.url);
    await assert.rejects(client.get('/api/v1'), { code: 'ERR_KUBELOOM_TLS' });
  });

  it('follows no redirect, because it would send the credentials', async () => {
    let followed = false;
    await using server = await TestServer.start((request, response) => {
      followed ||= request.url === '/elsewhere';
      response.writeHead(302, { location: '/elsewhere' }).end();
    });
    await using client = clientOf(server.url);
    await assert.rejects(client.get('/api/v1'), { code: 'ERR_KUBELOOM_REDIRECT', message: /\/elsewhere/ });
    assert.equal(followed, false);
  });

  it('turns the answers of a server into errors with advice', async () => {
    await using server = await TestServer.start((request, response) => {
      response.writeHead(Number(request.url?.slice(1)), { 'content-type': 'text/plain' }).end('said so');
    });
    await using client = clientOf(server.url);
    await assert.rejects(client.get('/401'), { code: 'ERR_KUBELOOM_UNAUTHORIZED', message: /401.*;/ });
    await assert.rejects(client.get('/403'), { code: 'ERR_KUBELOOM_FORBIDDEN' });
    await assert.rejects(client.get('/404'), { code: 'ERR_KUBELOOM_NOT_FOUND', message: /said so/ });
  });

  it('reports an answer that is not JSON', async () => {
    await using server = await TestServer.start((_, response) => response.end('<html>'));
    await using client = clientOf(server.url);
    await assert.rejects(client.getJson('/api'), { code: 'ERR_KUBELOOM_MALFORMED_RESPONSE' });
  });

  it('reports a server that cannot be reached', async () => {
    const gone = await TestServer.start(() => undefined);
    const { url } = gone;
    await gone[Symbol.asyncDispose]();
    await using client = clientOf(url);
    await assert.rejects(client.get('/api'), { code: 'ERR_KUBELOOM_UNREACHABLE' });
  });

  it('refuses an answer without an end before it fills the memory', async () => {
    const piece = Buffer.alloc(2 ** 20, 'x');
    await using server = await TestServer.start((_, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write(piece));
      };
      response.on('drain', more);
      more();
    });
    await using client = clientOf(server.url);
    await assert.rejects(client.get('/api'), { code: 'ERR_KUBELOOM_RESPONSE_TOO_LARGE' });
  });

  it('ends when it is interrupted, before and while it waits', async () => {
    const asked = new AbortController();
    await using server = await TestServer.start(() => asked.abort());
    await using waiting = clientOf(server.url, asked.signal);
    await assert.rejects(waiting.get('/api'), { code: 'ERR_KUBELOOM_INTERRUPTED' });
    await assert.rejects(waiting.get('/api'), { code: 'ERR_KUBELOOM_INTERRUPTED' });
  });
});
