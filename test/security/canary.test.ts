/**
 * Secrets that contain a unique word, through every kind of failure. The word must not be in any error (message, stack,
 * cause, JSON, inspected), error context, warning, figure or output.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { after, test } from 'node:test';
import type { TestContext } from 'node:test';
import {
  InformerThreads,
  SharedIndexInformer,
  SharedInformerFactory,
  loadKubeConfig,
} from '../../src/index.ts';
import { InformersMap } from '../../src/controller/index.ts';
import { startEmbeddedApiServer } from '../../src/tools/apiserver/testing/index.ts';
import { ObjectClient } from '../../src/controller/object-client.ts';
import { changesSince } from '../../src/partitions/bookmark-probe.ts';
import { ApiClient } from '../../src/http/api-client.ts';
import { newListWatchFromClient } from '../../src/client-go/index.ts';
import { BareServer, CONFIG_MAPS, kubeConfigFor } from './bare-server.ts';
import { CANARY, canaryIn, everythingOf } from './canary.ts';
import { HANG_MS } from '../kit/hang.ts';
import { until } from '../kit/until.ts';

const folder = mkdtempSync(join(tmpdir(), 'kubeloom-hidden-'));
after(() => rmSync(folder, { recursive: true }));

const warnings: Error[] = [];
process.on('warning', (warning) => warnings.push(warning));

function assertHidden(value: unknown, where: string): void {
  const found = canaryIn(everythingOf(value));
  assert.equal(found, undefined, `${where}: ${found}`);
}

const ITEM = `{"data":{"password":"${CANARY}"},"metadata":{"name":"s","uid":"u","resourceVersion":"5"}}`;
const LIST_HEAD = '{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[';

const TOKEN = `token-${CANARY}`;
const PASSWORD = `pass-${CANARY}`;

/** Returns answers that repeat credentials, as proxies and authenticating webhooks do. */
function echoesOf(...secrets: readonly string[]): typeof FAULTS {
  const echoes = secrets.flatMap((text, index) =>
    Object.entries({
      'as sent': { message: `Bearer ${text} is not valid` },
      alone: { message: `lookup failed for ${text}` },
      'behind =': { message: `token=${text}` },
      quoted: { message: `Bearer "${text}"` },
      'in the reason': { reason: `Bearer ${text}`, message: 'x' },
      'in a cause': {
        message: 'x',
        details: { name: text, causes: [{ message: `Bearer ${text}`, field: text, reason: text }] },
      },
      'in the headers as JSON': { headers: { authorization: ['Bearer', text] } },
    }).map(([name, body]) => {
      const answer = JSON.stringify('headers' in body ? body : { kind: 'Status', code: 401, ...body });
      const send = (response: ServerResponse): void => {
        response.writeHead(401, { 'www-authenticate': text }).end(answer);
      };
      return [`401, with the credentials ${name} (${index})`, send] as const;
    }),
  );
  return Object.fromEntries(echoes);
}

/** Everything but the last names the way in which a list or the watch after it fails. */
const FAULTS: Readonly<Record<string, (response: ServerResponse, isWatch: boolean) => void>> = {
  ...Object.fromEntries(
    [301, 400, 401, 403, 404, 407, 410, 429, 500, 502].map((status) => [
      `status ${status}, with the request's header in its text`,
      (response: ServerResponse) => {
        response.writeHead(status, { location: 'https://elsewhere.test/' });
        response.end(`who is Bearer token-${CANARY}?`);
      },
    ]),
  ),
  ...echoesOf(TOKEN),
  'a warning and a reason phrase with the token': (response) => {
    response.writeHead(500, `because of ${TOKEN}`, { warning: `299 - "${TOKEN}"` });
    response.end(TOKEN);
  },
  'a page in the place of a list': (response) => response.end(`who is ${TOKEN}?`),
  'a list that is cut off inside a Secret': (response) => {
    response.write(`${LIST_HEAD}${ITEM.slice(0, 40)}`, () => response.destroy());
  },
  'an item that is no JSON': (response) => response.end(`${LIST_HEAD}${ITEM.replace(':"c', ':c')}]}`),
  'an item without a name': (response) => response.end(`${LIST_HEAD}${ITEM.replace('"name":"s",', '')}]}`),
  'one object in the place of a list': (response) => response.end(ITEM),
  'a list of one object': (response) =>
    response.end(`{"kind":"ConfigMapList","metadata":{},"items":{"data":"${CANARY}"}}`),
  'an HTTP answer that is none': (response) => {
    response.socket?.end(`HTTP/1.1 200 ${CANARY}\r\n ${CANARY}: x\r\n\r\n`);
  },
  ...watchFault('a line that is no event', ITEM),
  ...watchFault('an event that is no JSON', `{"type":"ADDED","object":${ITEM.replace(':"c', ':c')}}`),
  ...watchFault('an event of no known type', `{"type":"OTHER","object":${ITEM}}`),
  ...watchFault('an object of another kind', `{"type":"ADDED","object":{"kind":"Other",${ITEM.slice(1)}}`),
  ...watchFault('a torn event', `{"type":"ADDED","object":${ITEM.slice(0, 40)}`),
  ...watchFault('a bookmark without a version', `{"type":"BOOKMARK","object":{"data":"${CANARY}"}}`),
  ...watchFault('an error that is no Status', `{"type":"ERROR","object":{"data":"Bearer token-${CANARY}"}}`),
};

function watchFault(
  name: string,
  line: string,
): Record<string, (response: ServerResponse, isWatch: boolean) => void> {
  return {
    [name]: (response, isWatch) => {
      if (isWatch) response.end(`${line}\n`);
      else response.end(`${LIST_HEAD}${ITEM}]}`);
    },
  };
}

async function serverFailing(
  context: TestContext,
  fail: (response: ServerResponse, isWatch: boolean) => void,
): Promise<BareServer> {
  return BareServer.start(context, (request, response) => {
    fail(response, request.url?.includes('watch=') ?? false);
  });
}

for (const threads of [0, 1]) {
  test(`C188 no answer of a server brings a secret into a report (${threads} threads)`, async (context) => {
    await using pool = new InformerThreads({ indexerThreads: threads });
    for (const [name, fail] of Object.entries(FAULTS)) {
      const server = await serverFailing(context, fail);
      const reported: unknown[] = [];
      const user = { token: `token-${CANARY}` };
      await using informer = new SharedIndexInformer(kubeConfigFor(server.url, user), CONFIG_MAPS, {
        threads: pool,
        codec: 'msgpack',
        list: { watchList: 'off' },
        backoff: { initialMs: 1, maxMs: 5 },
        onError: (error, errorContext) => reported.push(error, errorContext),
      });
      void informer.run();
      await until(() => reported.length > 0);
      assertHidden(reported, name);
      assertHidden([informer.health, informer.lastError, informer, pool.stats()], name);
    }
  });
}

test('C188 lists and watches of your own report no secret either', async (context) => {
  const faults = { ...FAULTS, ...echoesOf(PASSWORD, Buffer.from(`u:${PASSWORD}`).toString('base64')) };
  for (const [name, fail] of Object.entries(faults)) {
    const server = await serverFailing(context, fail);
    const user = { username: 'u', password: PASSWORD };
    const source = newListWatchFromClient(kubeConfigFor(server.url, user), CONFIG_MAPS);
    const signal = AbortSignal.timeout(HANG_MS);
    const [listed] = await Promise.allSettled([source.list({}, signal)]);
    if (listed.status === 'rejected') assertHidden(listed.reason, name);
    const watched = await Promise.allSettled([
      (async () => {
        for await (const event of await source.watch({}, signal)) void event;
      })(),
    ]);
    if (watched[0].status === 'rejected') assertHidden(watched[0].reason, name);
  }
});

test('C188 requests for single objects report no secret either', async (context) => {
  for (const [name, fail] of Object.entries(FAULTS)) {
    const server = await serverFailing(context, fail);
    const config = kubeConfigFor(server.url, { token: TOKEN });
    const client = new ObjectClient(config);
    const key = { namespace: 'd', name: 's' };
    const results = await Promise.allSettled([
      client.get(CONFIG_MAPS, key),
      client.update(CONFIG_MAPS, { metadata: key }),
      new ApiClient(config).getJson('/apis', AbortSignal.timeout(HANG_MS)),
      changesSince(new ApiClient(config), '/api/v1/configmaps', '5', AbortSignal.timeout(HANG_MS)),
    ]);
    for (const result of results) if (result.status === 'rejected') assertHidden(result.reason, name);
  }
});

test('C188 the embedded apiserver does not quote the body that it refuses', async () => {
  await using server = await startEmbeddedApiServer({ tls: false });
  const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' };
  const body = `{"kind":"ConfigMap","data":${CANARY}`;
  const answer = await fetch(`${server.url}/api/v1/namespaces/default/configmaps`, {
    method: 'POST',
    headers,
    body,
  });
  assert.equal(answer.status, 400);
  assertHidden(await answer.text(), 'the answer');
});

test('C188 credentials that cannot be used are not in the error', async (context) => {
  const gone = 'https://127.0.0.1:1';
  const pem = `-----BEGIN PRIVATE KEY-----\n${CANARY}\n-----END PRIVATE KEY-----\n`;
  const data = Buffer.from(pem).toString('base64');
  const plugin = join(folder, 'plugin');
  writeFileSync(plugin, `#!/bin/sh\necho ${CANARY}; echo ${CANARY} >&2; exit $1\n`, { mode: 0o755 });
  const tokenFile = join(folder, 'token');
  writeFileSync(tokenFile, `${CANARY}\r\nX: ${CANARY}`);
  const [apiVersion, interactiveMode] = ['client.authentication.k8s.io/v1', 'Never'];
  const cases: [user: object, cluster?: object][] = [
    [{ certData: data, keyData: data }],
    [{ token: `${CANARY}\r\nX-Injected: ${CANARY}` }],
    [{ token: `${CANARY}€` }],
    [{ username: CANARY, password: CANARY }],
    [{ exec: { apiVersion, interactiveMode, command: plugin, args: ['0'] } }],
    [{ exec: { apiVersion, interactiveMode, command: plugin, args: ['1'] } }],
    [
      {
        exec: {
          apiVersion,
          interactiveMode,
          command: plugin,
          args: [`\0${CANARY}`],
          env: [{ name: 'X', value: CANARY }],
        },
      },
    ],
    [{ authProvider: { name: 'tokenFile', config: { tokenFile } } }],
    [{ authProvider: { name: 'gcp', config: { 'access-token': CANARY } } }],
    [{ token: CANARY }, { proxyUrl: `http://u:${CANARY}@127.0.0.1:1` }],
    [{ token: CANARY }, { proxyUrl: `socks5://u:${CANARY}@127.0.0.1:1` }],
    [{ token: CANARY }, { server: `https://u:${CANARY}@127.0.0.1:1` }],
    [{ token: CANARY }, { server: `postgres://u:${CANARY}@127.0.0.1:1` }],
    [{ token: CANARY }, { server: 'http://elsewhere.test' }],
    [{ token: CANARY }, { caData: data }],
  ];
  await using pool = new InformerThreads({ indexerThreads: 0 });
  context.diagnostic(`${cases.length} kinds of credentials`);
  for (const [user, cluster] of cases) {
    const reported: unknown[] = [];
    await using informer = new SharedIndexInformer(kubeConfigFor(gone, user, cluster), CONFIG_MAPS, {
      threads: pool,
      onError: (error, errorContext) => reported.push(error, errorContext),
    });
    void informer.run();
    await until(() => reported.length > 0);
    assertHidden(reported, inspect(user));
  }
});

test('C188 objects made with a KubeConfig can be printed', async () => {
  const kubeConfig = kubeConfigFor('https://127.0.0.1:1', { token: CANARY });
  await using pool = new InformerThreads({ indexerThreads: 0 });
  const factory = new SharedInformerFactory(kubeConfig, { threads: pool });
  await using map = new InformersMap(kubeConfig, { threads: pool });
  assertHidden([factory, factory.forResource(CONFIG_MAPS), map], 'factory and map');
  assertHidden(newListWatchFromClient(kubeConfig, CONFIG_MAPS), 'list-watch');
});

test('C188 a kubeconfig that cannot be read is not quoted', () => {
  const path = join(folder, 'config');
  // No connection has it, so nothing but the reader of the file can hide it.
  const secret = 'unr34dable';
  for (const text of [
    `users: [{name: u, user: {token: ${secret}`,
    secret,
    `- ${secret}`,
    `users: ${secret}\nclusters: ${secret}`,
    `clusters: [{name: c, cluster: {server: "https://u:${secret}@h"}}]\nusers: [{name: u, user: {token: ${secret}}}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x`,
    `users: [{name: u, user: {client-key-data: ${secret}, token: [${secret}]}}]`,
    `users:\n\t- ${secret}`,
    `password: *${secret}`,
    `password: !${secret} x`,
  ]) {
    writeFileSync(path, text);
    assert.throws(
      () => loadKubeConfig({ path }),
      (error) => !everythingOf(error).includes(secret),
    );
  }
});

test('C188 the command line prints no secret with --verbose', async (context) => {
  const main = fileURLToPath(new URL('../../src/tools/cli/main.js', import.meta.url));
  const server = await serverFailing(context, (response) => {
    response.writeHead(403);
    response.end(`who is Bearer token-${CANARY}?`);
  });
  const config = join(folder, 'cli-config');
  for (const [address, token] of [
    [server.url, CANARY],
    [`http://u:${CANARY}@h`, CANARY],
    ['https://127.0.0.1:1', `${CANARY}\\r\\nX: y`],
  ]) {
    writeFileSync(
      config,
      `clusters: [{name: c, cluster: {server: "${address}"}}]\nusers: [{name: u, user: {token: "${token}"}}]\n` +
        'contexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x',
    );
    const output = await new Promise<string>((resolve) => {
      const args = [main, 'watch', 'pods', '--kubeconfig', config, '--verbose'];
      const env = { ...process.env, NODE_DEBUG: '' };
      execFile(process.execPath, args, { timeout: HANG_MS, env }, (_error, stdout, stderr) =>
        resolve(stdout + stderr),
      );
    });
    assert.match(output, /ERR_KUBELOOM_/);
    assertHidden(output, address ?? '');
  }
});

test('no warning of the process had one', () => assertHidden(warnings, 'warnings'));
