/** The caches of two threads beside a LIST of the embedded server. */
import { after } from 'node:test';
import { InformerThreads } from '../../../src/index.ts';
import { startEmbeddedApiServer } from '../../../src/tools/apiserver/testing/index.ts';
import type { EmbeddedApiServer } from '../../../src/tools/apiserver/testing/index.ts';
import { kubeConfigOf } from '../../kit/scene.ts';
import { threadsFollow } from './server-suite.ts';

const threads = new InformerThreads({ indexerThreads: 2 });
let starting: Promise<EmbeddedApiServer> | undefined;

threadsFollow('embedded server', async () => {
  starting ??= startEmbeddedApiServer();
  const server = await starting;
  return {
    kubeConfig: kubeConfigOf(server),
    threads,
    forgetHistory: () => Promise.all([server.dropWatches({ how: 'reset' }), server.compact()]),
  };
});

after(async () => {
  await threads.close();
  await (await starting)?.close();
});
