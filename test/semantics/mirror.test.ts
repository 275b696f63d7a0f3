/** The semantics suite against an embedded apiserver whose pods and ConfigMaps are read at a mirror. */

import { after } from 'node:test';
import { startEmbeddedApiServer } from '../../src/apiserver/testing/index.ts';
import type { EmbeddedApiServer } from '../../src/apiserver/testing/index.ts';
import { MirroredServer } from './mirrored-server.ts';
import { apiServerSemantics } from './suite.ts';
import type { Target } from './target.ts';

let starting: Promise<EmbeddedApiServer> | undefined;
let mirroring: Promise<MirroredServer> | undefined;

async function start(): Promise<MirroredServer> {
  starting ??= startEmbeddedApiServer({ freshnessTimeoutMs: 50 });
  const server = await starting;
  return MirroredServer.start({
    url: server.url,
    token: server.token,
    ca: server.ca,
    forgetHistory: async () => {
      await server.compact();
      await server.expireWatches();
    },
  });
}

async function target(): Promise<Target> {
  mirroring ??= start();
  return (await mirroring).target;
}

after(async () => {
  await (await mirroring)?.[Symbol.asyncDispose]();
  await (await starting)?.close();
});

apiServerSemantics(target, 'a mirror');
