/** The entries of threads on the main thread. */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';

const WORKERS = new URL('../../../workers/', import.meta.url);

test('every entry of a thread refuses to run on the main thread', async () => {
  await assert.rejects(import(new URL('reflector.js', WORKERS).href), /entry of a worker thread/);
  const require = createRequire(import.meta.url);
  for (const name of ['indexer.cjs', 'reconciler.cjs']) {
    const run = require(new URL(name, WORKERS).pathname) as (task: object) => Promise<void>;
    await assert.rejects(run({}), /entry of a worker thread/);
  }
});
