/** Wrong servers, credentials, selectors and streams: a coded error that says what to do, and no hang. */
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { KubeConfig } from '@kubernetes/client-node';
import { startEmbeddedApiServer } from '../../../../src/apiserver/testing/index.ts';
import { InformerThreads, SharedIndexInformer, waitForCacheSync } from '../../../../src/index.ts';
import type { InformerOptions, KubeloomError, ResourceRef } from '../../../../src/index.ts';
import { failRequests } from '../../apiserver/fail-requests.ts';
import { Harness, PODS, Recorder, pod } from './harness.ts';

const TWIN = { threads: 0, codec: 'json' } as const;

interface Wrong {
  readonly title: string;
  readonly code: string;
  /** Pattern of the message. */
  readonly says: RegExp;
  readonly kubeConfig?: (yaml: string) => string;
  readonly resource?: ResourceRef;
  readonly options?: InformerOptions<unknown>;
}

const WRONGS: readonly Wrong[] = [
  {
    title: 'a token that the server does not know',
    code: 'ERR_KUBELOOM_UNAUTHORIZED',
    says: /401|[Uu]nauthorized/,
    kubeConfig: (yaml) => yaml.replace(/token: .*/, 'token: wrong'),
  },
  {
    title: 'a kubeconfig without the CA of the server',
    code: 'ERR_KUBELOOM_TLS',
    says: /certificate/,
    kubeConfig: (yaml) => yaml.replace(/ +certificate-authority-data: .*\n/, ''),
  },
  {
    title: 'a resource that the server does not have',
    code: 'ERR_KUBELOOM_NOT_FOUND',
    says: /404|not find/,
    resource: { ...PODS, group: 'example.com', resource: 'widgets' },
  },
  {
    title: 'a field that cannot select',
    code: 'ERR_KUBELOOM_BAD_REQUEST',
    says: /field label not supported: a/,
    options: { fieldSelector: 'a=b' },
  },
];

for (const wrong of WRONGS) {
  test(`C18 ${wrong.title} is reported with ${wrong.code} and does not stop the informer`, async () => {
    await using server = await startEmbeddedApiServer();
    await using threads = new InformerThreads({ shards: 0 });
    const kubeConfig = new KubeConfig();
    kubeConfig.loadFromString((wrong.kubeConfig ?? String)(server.kubeConfigYaml));
    const error = await firstError(kubeConfig, threads, wrong.resource ?? PODS, wrong.options);
    assert.equal(error.code, wrong.code);
    assert.match(error.message, wrong.says);
  });
}

test('C18 an address without a server is reported with ERR_KUBELOOM_UNREACHABLE', async () => {
  const vacant = createServer();
  await new Promise<void>((resolve) => vacant.listen(0, '127.0.0.1', resolve));
  const { port } = vacant.address() as AddressInfo;
  await new Promise((resolve) => vacant.close(resolve));
  await using threads = new InformerThreads({ shards: 0 });
  const kubeConfig = new KubeConfig();
  const cluster = { name: 'gone', server: `https://127.0.0.1:${port}` };
  kubeConfig.loadFromOptions({
    clusters: [cluster],
    users: [{ name: 'user' }],
    contexts: [{ name: 'context', cluster: 'gone', user: 'user' }],
    currentContext: 'context',
  });
  const error = await firstError(kubeConfig, threads, PODS);
  assert.equal(error.code, 'ERR_KUBELOOM_UNREACHABLE');
});

async function firstError(
  kubeConfig: KubeConfig,
  threads: InformerThreads,
  resource: ResourceRef,
  options: InformerOptions<unknown> = {},
): Promise<KubeloomError> {
  let report: (error: KubeloomError) => void = () => undefined;
  const reported = new Promise<KubeloomError>((resolve) => (report = resolve));
  await using informer = new SharedIndexInformer(kubeConfig, resource, {
    threads,
    ...options,
    onError: () => undefined,
  });
  informer.setWatchErrorHandler(report);
  const run = informer.run();
  const error = await reported;
  assert.equal(informer.isStopped(), false);
  void run;
  return error;
}

test('waitForCacheSync rejects on abort with one error that names every informer that has not synced', async () => {
  await using harness = await Harness.start(TWIN);
  const good = harness.informer();
  const bad = harness.informer({ fieldSelector: 'a=b' });
  await harness.synced(good);
  const failed = new Promise((resolve) => bad.setWatchErrorHandler(resolve));
  harness.run(bad);
  const abort = new AbortController();
  const waiting = waitForCacheSync(abort.signal, good, bad);
  await failed;
  abort.abort();
  await assert.rejects(waiting, (error: KubeloomError) => {
    assert.equal(error.code, 'ERR_KUBELOOM_NOT_SYNCED');
    assert.match(error.message, /^not synced: pods \(all namespaces\): .*: .*field label not supported: a/);
    return true;
  });
});

const BAD_OPTIONS: readonly (readonly [string, InformerOptions<unknown>])[] = [
  ['codec', { codec: 'xml' as 'json' }],
  ['watchList', { watchList: 'yes' as 'auto' }],
  ['borrowChecks', { borrowChecks: 'eternal' as 'off' }],
  ['resyncPeriodMs', { resyncPeriodMs: -1 }],
  ['pageSize', { pageSize: 0.5 }],
  ['backoff', { backoff: { initialMs: 100, maxMs: 1 } }],
];

for (const [name, options] of BAD_OPTIONS) {
  test(`an invalid ${name} is refused when the informer is made`, async () => {
    await using threads = new InformerThreads({ shards: 0 });
    assert.throws(() => new SharedIndexInformer(new KubeConfig(), PODS, { threads, ...options }), {
      code: 'ERR_KUBELOOM_OPTION',
    });
  });
}

test('an informer runs once', async () => {
  await using harness = await Harness.start(TWIN);
  const informer = harness.informer();
  await harness.synced(informer);
  await assert.rejects(informer.run(), { code: 'ERR_KUBELOOM_STARTED' });
  assert.throws(() => informer.setTransform((object) => object), { code: 'ERR_KUBELOOM_STARTED' });
});

test('C18 HTTP errors in between are reported and the informer converges', async () => {
  await using harness = await Harness.start(TWIN);
  await failRequests(harness.server, 500, 2);
  await failRequests(harness.server, 403, 1, { nth: 3 });
  const informer = harness.informer();
  const recorder = new Recorder();
  informer.addEventHandler(recorder);
  await harness.server.apply([{ type: 'create', resource: 'pods', object: pod('a') }]);
  await harness.synced(informer);
  await recorder.until(() => recorder.seen.length === 1);
  assert.ok(harness.errors.length > 0);
});
