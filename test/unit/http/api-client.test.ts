/** Requests for whole bodies, and writes: an answer or an error with a code, and never a redirect. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import { connect, createServer as createTcpServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, describe, it } from 'node:test';
import { startEmbeddedApiServer } from '../../../src/tools/apiserver/testing/index.ts';
import { ApiClient } from '../../../src/http/api-client.ts';
import { Fence } from '../../../src/shared/fence.ts';
import { FakeClock } from '../../../src/tools/apiserver/testing/index.ts';
import type { Clock } from '../../../src/base/clock.ts';

const NEVER = new AbortController().signal;

interface Scene extends AsyncDisposable {
  readonly client: ApiClient;
}

/** Starts a server, with a client of it. */
async function scene(listener: RequestListener, clock?: Clock): Promise<Scene> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    client: new ApiClient({ server: `http://127.0.0.1:${port}`, token: 'secret' }, clock),
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

interface Received {
  readonly method: string | undefined;
  readonly type: string | undefined;
  readonly body: string;
}

describe('a write', () => {
  const POST = { method: 'POST', path: '/api', body: { a: 'ü' } } as const;

  it('has its method, its body and the type of the body, on a connection that the next one uses again', async () => {
    const received: Received[] = [];
    const ports = new Set<number | undefined>();
    await using server = await scene((request, response) => {
      void text(request).then((body) => {
        received.push({ method: request.method, type: request.headers['content-type'], body });
        ports.add(request.socket.remotePort);
        response.writeHead(201).end('{"kind":"Answer"}');
      });
    });
    const patch = { contentType: 'application/merge-patch+json' };
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
      const request = { ...POST, method, ...(method === 'PATCH' ? patch : {}) };
      assert.deepEqual(await server.client.send(request), { kind: 'Answer' });
    }
    assert.deepEqual(
      received.map(({ method, type }) => [method, type]),
      [
        ['POST', 'application/json'],
        ['PUT', 'application/json'],
        ['PATCH', 'application/merge-patch+json'],
        ['DELETE', 'application/json'],
      ],
    );
    assert.ok(received.every(({ body }) => body === '{"a":"ü"}'));
    assert.equal(ports.size, 1);
  });

  it('is sent once more after 401, and after nothing else', async () => {
    let requests = 0;
    await using server = await scene((request, response) => {
      requests++;
      response.writeHead(request.url === '/401' || requests > 1 ? 401 : 409).end();
    });
    await assert.rejects(server.client.send({ ...POST, path: '/409' }), { code: 'ERR_KUBELOOM_CONFLICT' });
    assert.equal(requests, 1);
    await assert.rejects(server.client.send({ ...POST, path: '/401' }), {
      code: 'ERR_KUBELOOM_UNAUTHORIZED',
    });
    assert.equal(requests, 3);
  });

  it('is unconfirmed when the connection ends without an answer, and is not repeated', async () => {
    let requests = 0;
    await using server = await scene((request, response) => {
      requests++;
      if (request.url === '/first') response.end('{}');
      else request.socket.destroy();
    });
    // The second request uses the connection of the first: a GET would be sent again.
    await server.client.send({ ...POST, path: '/first' });
    await assert.rejects(server.client.send(POST), { code: 'ERR_KUBELOOM_WRITE_UNCONFIRMED' });
    assert.equal(requests, 2);
    await assert.rejects(server.client.send({ method: 'GET', path: '/api' }), {
      code: 'ERR_KUBELOOM_CONNECTION_RESET',
    });
  });

  it('is unconfirmed when its answer breaks off, and refused when the status is one', async () => {
    await using server = await scene((request, response) => {
      response.writeHead(Number(request.url?.slice(1)), { 'content-length': 100 });
      response.write('{', () => request.socket.destroy());
    });
    await assert.rejects(server.client.send({ ...POST, path: '/201' }), {
      code: 'ERR_KUBELOOM_WRITE_UNCONFIRMED',
    });
    await assert.rejects(server.client.send({ ...POST, path: '/422' }), { code: 'ERR_KUBELOOM_INVALID' });
  });

  it('C315 is unconfirmed when the server or a proxy gave up waiting, and refused when the server did not begin', async () => {
    await using server = await scene((request, response) => {
      const [, status = '', reason] = request.url?.split('/') ?? [];
      response
        .writeHead(Number(status))
        .end(JSON.stringify({ kind: 'Status', code: Number(status), reason }));
    });
    const codeOf = async (path: string): Promise<unknown> =>
      server.client.send({ ...POST, path }).catch((error: { readonly code?: string }) => error.code);
    for (const path of ['/500/ServerTimeout', '/504/Timeout', '/502/', '/503/']) {
      assert.equal(await codeOf(path), 'ERR_KUBELOOM_WRITE_UNCONFIRMED', path);
    }
    assert.equal(await codeOf('/500/InternalError'), 'ERR_KUBELOOM_INTERNAL');
    assert.equal(await codeOf('/503/ServiceUnavailable'), 'ERR_KUBELOOM_HTTP_STATUS');
  });

  it('C315 is unconfirmed when a success has no object: the end of the answer was lost, or a proxy wrote a page', async () => {
    let text = '';
    await using server = await scene((_request, response) => void response.writeHead(201).end(text));
    for (text of [
      '',
      '{"kind":"ConfigMap","metada',
      '<html>',
      'null',
      '[]',
      '"a"',
      'x'.repeat(2 ** 25 + 1),
    ]) {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
        if (method === 'DELETE' && text === '') continue;
        await assert.rejects(server.client.send({ ...POST, method }), {
          code: 'ERR_KUBELOOM_WRITE_UNCONFIRMED',
        });
      }
    }
  });

  it('is unconfirmed when the server is silent for 65 s', async () => {
    const clock = new FakeClock();
    await using server = await scene(() => clock.advance(65_000), clock);
    await assert.rejects(server.client.send(POST), {
      code: 'ERR_KUBELOOM_WRITE_UNCONFIRMED',
      message: /has been silent for 65 s/,
    });
  });

  it('did not happen when the server cannot be reached, or the body is not JSON', async () => {
    const { client, [Symbol.asyncDispose]: close } = await scene(() => undefined);
    await close();
    await assert.rejects(client.send(POST), { code: 'ERR_KUBELOOM_UNREACHABLE' });
    await assert.rejects(client.send({ ...POST, body: { big: 1n } }), { code: 'ERR_KUBELOOM_OPTION' });
  });

  it('C232 does not happen when a signal is aborted before its bytes are written: while it waits for credentials, and after 401', async () => {
    const methods: unknown[] = [];
    const clock = new FakeClock();
    const over = new Error('the lease is over');
    const fence = new Fence(clock, clock.now() + 1000, () => over);
    await using server = await scene((request, response) => {
      methods.push(request.method);
      // The time passes while the process waits, and no event says so.
      clock.advance(1000);
      response.writeHead(401).end('{"kind":"Status","code":401,"reason":"Unauthorized"}');
    });
    await assert.rejects(server.client.send({ ...POST, signals: [fence.signal] }), over);
    assert.deepEqual(methods, ['POST']);
    await assert.rejects(server.client.send({ ...POST, signals: [fence.signal] }), over);
    const late = new Fence(clock, clock.now() + 1000, () => over);
    const asking = server.client.send({ ...POST, signals: [new AbortController().signal, late.signal] });
    clock.advance(1000);
    await assert.rejects(asking, over);
    assert.deepEqual(methods, ['POST']);
  });

  it('C470 does not happen after the end of a fence, whatever signal is composed of it', async () => {
    const methods: unknown[] = [];
    const clock = new FakeClock();
    const over = new Error('the lease is over');
    await using server = await scene((request, response) => {
      methods.push(request.method);
      response.end('{}');
    });
    for (const compose of [
      (signal: AbortSignal) => AbortSignal.any([NEVER, signal]),
      (signal: AbortSignal) => AbortSignal.any([AbortSignal.any([signal])]),
      (signal: AbortSignal) => {
        const controller = new AbortController();
        signal.addEventListener('abort', () => controller.abort(signal.reason));
        return controller.signal;
      },
    ]) {
      const fence = new Fence(clock, clock.now() + 1000, () => over);
      const signals = [compose(fence.signal)];
      const asking = server.client.send({ ...POST, signals });
      clock.advance(1000);
      await assert.rejects(asking, over);
      assert.deepEqual(methods, []);
    }
  });

  it('C232 does not happen when a signal is aborted while its connection is made: TLS takes its time', async () => {
    await using server = await startEmbeddedApiServer({ isolation: 'none' });
    const clock = new FakeClock();
    const over = new Error('the lease is over');
    const fence = new Fence(clock, clock.now() + 1000, () => over);
    // No event says that the time has passed.
    const network = createTcpServer((down) => {
      clock.advance(1000);
      const up = connect(server.port, '127.0.0.1');
      for (const socket of [up, down]) socket.on('error', () => undefined);
      down.pipe(up).pipe(down);
    }).listen(0, '127.0.0.1');
    await once(network, 'listening');
    after(() => network.close());
    const { port } = network.address() as AddressInfo;
    const client = new ApiClient({ ...server.connection, server: `https://127.0.0.1:${port}` });
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'late' } };
    const path = '/api/v1/namespaces/default/configmaps';
    const request = { method: 'POST', path, body: object, signals: [fence.signal] } as const;
    await assert.rejects(client.send(request), over);
    await assert.rejects(client.getBody(`${path}/late`, NEVER), { code: 'ERR_KUBELOOM_NOT_FOUND' });
  });

  it('ends with the reason of its signal', async () => {
    const asked = new AbortController();
    const reason = new Error('no longer needed');
    await using server = await scene(() => asked.abort(reason));
    await assert.rejects(server.client.send({ ...POST, signals: [asked.signal] }), reason);
  });
});
