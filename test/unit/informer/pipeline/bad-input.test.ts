/** Wrong servers, credentials, selectors and streams: a coded error that says what to do, and no hang. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeConfig } from '@kubernetes/client-node';
import { startEmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';
import { InformerThreads, SharedIndexInformer } from '../../../../src/index.ts';
import type { InformerOptions, KubeloomError, ResourceRef } from '../../../../src/index.ts';
import { PODS } from '../../../kit/objects.ts';

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
    title: 'an address without a server',
    code: 'ERR_KUBELOOM_UNREACHABLE',
    says: /127\.0\.0\.1:1\b/,
    kubeConfig: (yaml) => yaml.replace(/server: .*/, 'server: https://127.0.0.1:1'),
  },
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
    await using threads = new InformerThreads({ indexerThreads: 0 });
    const kubeConfig = new KubeConfig();
    kubeConfig.loadFromString((wrong.kubeConfig ?? String)(server.kubeConfigYaml));
    const error = await firstError(kubeConfig, threads, wrong.resource ?? PODS, wrong.options);
    assert.equal(error.code, wrong.code);
    assert.match(error.message, wrong.says);
  });
}

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
