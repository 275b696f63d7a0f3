/** Requests for whole bodies: an answer or an error with a code, and never a redirect. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { startEmbeddedApiServer } from '../../../src/apiserver/testing/index.ts';
import { ApiClient } from '../../../src/reflector/api-client.ts';

const NEVER = new AbortController().signal;

interface Scene extends AsyncDisposable {
  readonly client: ApiClient;
}

/** Starts a server, with a client of it. */
async function scene(listener: RequestListener): Promise<Scene> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    client: new ApiClient({ server: `http://127.0.0.1:${port}`, token: 'secret' }),
    async [Symbol.asyncDispose](): Promise<void> {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

describe('ApiClient', () => {
  it('returns the document of an apiserver over TLS, and trusts no other certificate', async () => {
    await using server = await startEmbeddedApiServer({ isolation: 'none' });
    const { url, token, ca } = server;
    const document = await new ApiClient({ server: url, token, ca }).getJson('/api/v1', NEVER);
    assert.equal(Reflect.get(Object(document), 'groupVersion'), 'v1');
    const stranger = new ApiClient({ server: url, token });
    await assert.rejects(stranger.getBody('/api/v1', NEVER), { code: 'ERR_KUBELOOM_TLS' });
  });

  it('throws an error with a code for every answer but 200 with JSON, and follows no redirect', async () => {
    const paths: (string | undefined)[] = [];
    await using server = await scene((request, response) => {
      paths.push(request.url);
      response.writeHead(Number(request.url?.slice(1)), { location: '/elsewhere' }).end('<html>');
    });
    for (const [path, code] of [
      ['/302', 'ERR_KUBELOOM_REDIRECT'],
      ['/401', 'ERR_KUBELOOM_UNAUTHORIZED'],
      ['/403', 'ERR_KUBELOOM_FORBIDDEN'],
      ['/404', 'ERR_KUBELOOM_NOT_FOUND'],
      ['/200', 'ERR_KUBELOOM_MALFORMED_RESPONSE'],
    ] as const) {
      await assert.rejects(server.client.getJson(path, NEVER), { code });
    }
    assert.deepEqual(paths, ['/302', '/401', '/403', '/404', '/200']);
  });

  it('reports a server that cannot be reached', async () => {
    const { client, [Symbol.asyncDispose]: close } = await scene(() => undefined);
    await close();
    await assert.rejects(client.getBody('/api', NEVER), { code: 'ERR_KUBELOOM_UNREACHABLE' });
  });

  it('refuses an answer without an end before it fills the memory', async () => {
    const piece = Buffer.alloc(2 ** 20, 'x');
    await using server = await scene((_, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write(piece));
      };
      response.on('drain', more);
      more();
    });
    await assert.rejects(server.client.getBody('/api', NEVER), { code: 'ERR_KUBELOOM_MALFORMED_RESPONSE' });
  });

  it('ends with the reason of its signal, before and while it waits', async () => {
    const asked = new AbortController();
    const reason = new Error('no longer needed');
    await using server = await scene(() => asked.abort(reason));
    await assert.rejects(server.client.getBody('/api', asked.signal), reason);
    await assert.rejects(server.client.getBody('/api', asked.signal), reason);
  });
});
