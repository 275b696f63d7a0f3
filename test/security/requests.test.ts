/** The requests of an informer, their targets, and the processes that end with it. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { constants, createGzip, gzipSync } from 'node:zlib';
import type { Gzip } from 'node:zlib';
import { InformerThreads, SharedIndexInformer, resourcePath } from '../../src/index.ts';
import { newListWatchFromClient } from '../../src/client-go/index.ts';
import type { KubeloomError } from '../../src/index.ts';
import { startEmbeddedApiServer } from '../../src/tools/apiserver/testing/index.ts';
import { ConnectProxy } from '../unit/http/connect-proxy.ts';
import { PODS } from '../kit/objects.ts';
import { kubeConfigOf } from '../kit/scene.ts';
import { failRequests } from '../unit/tools/apiserver/fail-requests.ts';
import { connectionFor } from '../../src/http/credentials/credentials.ts';
import { setEnvironment } from '../unit/http/credentials-scene.ts';
import { until } from '../kit/until.ts';
import { BareServer, CONFIG_MAPS, kubeConfigFor } from './bare-server.ts';
import { HANG_MS } from '../kit/hang.ts';

test('C190 an informer sends only list and watch of its resource, even after failures', async () => {
  await using server = await startEmbeddedApiServer();
  await using threads = new InformerThreads({ indexerThreads: 0 });
  await server.populate({ count: 5 });
  await using informer = new SharedIndexInformer(kubeConfigOf(server), PODS, {
    threads,
    onError: () => undefined,
    backoff: { initialMs: 5, maxMs: 20 },
  });
  void informer.run();
  await informer.waitForSync();
  for (const status of [401, 403, 410, 429, 500] as const) {
    await failRequests(server, status);
    const before = (await server.requests()).length;
    // A watch may be between two requests when watches are dropped: drop until it has asked twice.
    await until(async () => {
      await server.dropWatches({ how: 'reset' });
      return (await server.requests()).length >= before + 2;
    });
  }
  const requests = await server.requests();
  const sent = new Set(requests.map(({ method, path }) => `${method} ${path}`));
  assert.deepEqual([...sent], ['GET /api/v1/pods']);
  assert.ok(requests.some(({ watch }) => watch));
});

test('C183 a redirect is refused with a code, and its target receives neither request nor token', async (context) => {
  const sink = await BareServer.start(context, (_request, response) => response.end());
  await using threads = new InformerThreads({ indexerThreads: 0 });
  for (const status of [301, 302, 303, 307, 308]) {
    for (const location of [
      sink.url,
      `${sink.url}/api/v1/configmaps`,
      '/api/v1/elsewhere',
      'https://127.0.0.1:1/',
    ]) {
      const server = await BareServer.start(context, (_request, response) => {
        response.writeHead(status, { location });
        response.end();
      });
      const error = await firstError(threads, server.url, { token: 'canary' });
      assert.equal(error.code, 'ERR_KUBELOOM_REDIRECT');
      const paths = new Set(server.requests.map(({ url }) => url?.split('?', 1)[0]));
      assert.deepEqual(paths, new Set(['/api/v1/configmaps']));
      const list = newListWatchFromClient(kubeConfigFor(server.url, { token: 'canary' }), CONFIG_MAPS);
      await assert.rejects(list.list({}, AbortSignal.timeout(HANG_MS)), { code: 'ERR_KUBELOOM_REDIRECT' });
    }
  }
  assert.deepEqual(sink.requests, []);
});

async function firstError(threads: InformerThreads, server: string, user: object): Promise<KubeloomError> {
  let error: KubeloomError | undefined;
  await using informer = new SharedIndexInformer(kubeConfigFor(server, user), CONFIG_MAPS, {
    threads,
    list: { watchList: 'off' },
    onError: (reported) => (error ??= reported),
  });
  void informer.run();
  await until(() => error !== undefined);
  return error as unknown as KubeloomError;
}

/** Returns an informer that requests gzip, and adds the codes of its errors. */
function inflating(url: string, threads: InformerThreads, codes: string[]): SharedIndexInformer {
  return new SharedIndexInformer(kubeConfigFor(url), CONFIG_MAPS, {
    threads,
    compression: 'on',
    backoff: { initialMs: 5, maxMs: 20 },
    onError: ({ code }) => codes.push(code),
  });
}

test('C191 an answer that is compressed without a request for it is refused before anything is inflated', async (context) => {
  await using threads = new InformerThreads({ indexerThreads: 0 });
  for (const encoding of ['gzip', 'br', 'deflate', 'gzip, gzip, gzip', 'identity, gzip']) {
    const server = await BareServer.start(context, (_request, response) => {
      response.writeHead(200, { 'content-encoding': encoding });
      response.write(Buffer.alloc(100_000));
    });
    const error = await firstError(threads, server.url, {});
    assert.equal(error.code, 'ERR_KUBELOOM_HTTP');
    assert.match(error.message, /is encoded/);
    assert.equal(server.requests[0]?.headers['accept-encoding'], undefined, 'no encoding is requested');
  }
});

test('C191 gzip that is truncated or damaged is reported, and requested again until it is whole', async (context) => {
  const whole = gzipSync(
    '{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"a","resourceVersion":"1"}}]}',
  );
  const damaged = Buffer.from(whole).fill(0, whole.length - 8);
  const bodies = [whole.subarray(0, 60), damaged, whole];
  for (const indexerThreads of [0, 1]) {
    let lists = 0;
    const server = await BareServer.start(context, (request, response) => {
      if (request.url?.includes('watch=')) return response.flushHeaders();
      assert.equal(request.headers['accept-encoding'], 'gzip');
      return response.writeHead(200, { 'content-encoding': 'gzip' }).end(bodies[lists++]);
    });
    const codes: string[] = [];
    await using threads = new InformerThreads({ indexerThreads });
    await using informer = inflating(server.url, threads, codes);
    void informer.run();
    await informer.waitForSync({ signal: AbortSignal.timeout(HANG_MS) });
    assert.deepEqual(codes, ['ERR_KUBELOOM_HTTP', 'ERR_KUBELOOM_HTTP']);
    assert.deepEqual(informer.getStore().listKeys(), ['a']);
  }
});

test('C191 the events of a watch in gzip arrive one by one, and a damaged watch continues behind the last', async (context) => {
  const answers: { readonly gzip: Gzip; readonly version: string | null }[] = [];
  const server = await BareServer.start(context, (request, response) => {
    const query = new URL(request.url ?? '', 'http://localhost').searchParams;
    if (!query.has('watch')) {
      return response.end(
        '{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}',
      );
    }
    const gzip = createGzip();
    gzip.pipe(response.writeHead(200, { 'content-encoding': 'gzip' }));
    response.flushHeaders();
    return answers.push({ gzip, version: query.get('resourceVersion') });
  });
  const codes: string[] = [];
  await using threads = new InformerThreads({ indexerThreads: 0 });
  await using informer = inflating(server.url, threads, codes);
  void informer.run();
  await informer.waitForSync({ signal: AbortSignal.timeout(HANG_MS) });
  for (const [watch, versions] of [
    [0, [2, 3]],
    [1, [4]],
  ] as const) {
    await until(() => answers.length > watch);
    const { gzip, version } = answers[watch] ?? assert.fail();
    assert.equal(version, watch === 0 ? '1' : '3');
    for (const resourceVersion of versions) {
      const object = { metadata: { name: `map-${resourceVersion}`, resourceVersion: `${resourceVersion}` } };
      gzip.write(`${JSON.stringify({ type: 'ADDED', object })}\n`);
      gzip.flush(constants.Z_SYNC_FLUSH);
      await until(() => informer.getStore().getByKey(object.metadata.name) !== undefined);
    }
    if (watch === 0) gzip.push(Buffer.alloc(64, 0xff));
  }
  assert.deepEqual(codes, ['ERR_KUBELOOM_HTTP']);
});

test('a plugin that runs when its informer stops is ended', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'kubeloom-stop-'));
  context.after(() => rmSync(folder, { recursive: true }));
  const pidFile = join(folder, 'pid');
  const command = join(folder, 'plugin');
  writeFileSync(command, `#!/bin/sh\necho $$ > ${pidFile}.new; mv ${pidFile}.new ${pidFile}\nsleep 600\n`, {
    mode: 0o755,
  });
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', interactiveMode: 'Never', command };
  await using threads = new InformerThreads({ indexerThreads: 0 });
  const informer = new SharedIndexInformer(kubeConfigFor('https://127.0.0.1:1', { exec }), CONFIG_MAPS, {
    threads,
  });
  const abort = new AbortController();
  const run = informer.run({ signal: abort.signal });
  await until(() => existsSync(pidFile));
  const pid = Number(readFileSync(pidFile, 'utf8'));
  abort.abort();
  await run;
  await until(() => !isAlive(pid));
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z');
  } catch {
    return false;
  }
}

test('informers go through the proxy-url of the kubeconfig', async (context) => {
  await using server = await startEmbeddedApiServer();
  await server.populate({ count: 3 });
  const kubeConfig = kubeConfigOf(server);
  const [cluster] = kubeConfig.clusters;
  assert.ok(cluster);
  const proxy = new ConnectProxy({ port: Number(new URL(cluster.server).port) });
  kubeConfig.clusters = [{ ...cluster, proxyUrl: `http://${await proxy.listen(context)}` }];
  await using threads = new InformerThreads({ indexerThreads: 0 });
  await using informer = new SharedIndexInformer(kubeConfig, PODS, { threads });
  void informer.run();
  await informer.waitForSync();
  assert.equal(informer.getStore().size, 3);
  assert.match(proxy.requests[0] ?? '', /^CONNECT 127\.0\.0\.1:\d+ anonymous$/);
});

test('C184 credentials go over plain HTTP to this machine only', async () => {
  await using threads = new InformerThreads({ indexerThreads: 0 });
  for (const user of [{ token: 'canary' }, { username: 'u', password: 'canary' }]) {
    for (const server of [
      'http://kubeloom.test',
      'http://127.0.0.1.kubeloom.test:8080',
      'http://[fd00::1]',
    ]) {
      const error = await firstError(threads, server, user);
      assert.equal(error.code, 'ERR_KUBELOOM_PLAIN_HTTP');
      assert.doesNotMatch(error.message, /canary/);
    }
  }
});

test('C184 with a proxy credentials go in plain text only when it and the server are this machine', async (context) => {
  const proxyUrl = 'http://127.0.0.1:1';
  const plain = { code: 'ERR_KUBELOOM_PLAIN_HTTP' };
  const user = { token: 'canary' };
  for (const [server, proxy] of [
    ['http://kubeloom.test', proxyUrl],
    ['http://localhost', 'http://proxy.kubeloom.test'],
    ['http://kubeloom.test', 'https://proxy.kubeloom.test'],
  ] as const) {
    await assert.rejects(connectionFor(kubeConfigFor(server, user, { proxyUrl: proxy })), plain);
  }
  assert.ok(await connectionFor(kubeConfigFor('http://localhost', user, { proxyUrl })));
  assert.ok(await connectionFor(kubeConfigFor('https://kubeloom.test', user, { proxyUrl })));
  setEnvironment(context, { HTTP_PROXY: proxyUrl, NO_PROXY: '' });
  await assert.rejects(connectionFor({ server: 'http://kubeloom.test', token: 'canary' }), plain);
});

test('C184 a client certificate, which needs TLS, is not left out of a request over plain HTTP', async () => {
  const [certData, keyData] = ['cert', 'key'].map((text) => Buffer.from(text).toString('base64'));
  for (const server of ['http://localhost', 'http://kubeloom.test']) {
    await assert.rejects(connectionFor(kubeConfigFor(server, { certData, keyData })), {
      code: 'ERR_KUBELOOM_PLAIN_HTTP',
      message: /are a certificate, which its http: server cannot ask for/,
    });
  }
});

test('a namespace, group, version or resource cannot lead to another path', () => {
  for (const namespace of ['..', '.']) {
    assert.throws(() => resourcePath(CONFIG_MAPS, namespace), { code: 'ERR_KUBELOOM_OPTION' });
  }
  assert.equal(
    resourcePath(CONFIG_MAPS, 'a/../b?x#y\r\nz'),
    '/api/v1/namespaces/a%2F..%2Fb%3Fx%23y%0D%0Az/configmaps',
  );
  for (const wrong of [
    { resource: 'pods/../secrets' },
    { resource: 'pods?watch=true' },
    { resource: '..' },
    { version: 'v1/../v2' },
    { group: 'a/b' },
    { group: '..' },
    { resource: 'pods\r\nx: y' },
    { resource: '' },
  ]) {
    assert.throws(() => resourcePath({ ...CONFIG_MAPS, ...wrong }), { code: 'ERR_KUBELOOM_OPTION' });
  }
});
