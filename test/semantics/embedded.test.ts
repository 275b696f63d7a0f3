/**
 * The semantics suite against the embedded apiserver.
 */
import { after } from 'node:test';
import { startEmbeddedApiServer } from '../../src/tools/apiserver/testing/index.ts';
import type { EmbeddedApiServer } from '../../src/tools/apiserver/testing/index.ts';
import { apiServerSemantics } from './suite.ts';
import type { Target } from './target.ts';

let starting: Promise<EmbeddedApiServer> | undefined;

async function target(): Promise<Target> {
  starting ??= startEmbeddedApiServer({ freshnessTimeoutMs: 50 });
  const server = await starting;
  return {
    url: server.url,
    token: server.token,
    ca: server.ca,
    forgetHistory: async () => void (await server.compact()),
  };
}

after(async () => (await starting)?.close());

apiServerSemantics(target, 'embedded');
