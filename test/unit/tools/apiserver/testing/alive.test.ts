/** Informers keep the process alive until they are stopped or unref'd. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { HANG_MS } from '../../../../kit/hang.ts';

const ALIVE = fileURLToPath(new URL('./alive-child.js', import.meta.url));
const NEVER_RUN = fileURLToPath(new URL('./never-run-child.js', import.meta.url));

/** Returns the output of the process; rejects when it must be killed. */
async function outputOf(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: HANG_MS });
  return stdout;
}

for (const threads of [0, 1, 2]) {
  test(`C61 an informer keeps the process alive until it is stopped (threads ${threads})`, async () => {
    assert.equal(await outputOf(ALIVE, String(threads)), 'synced, alive, ended');
  });

  test(`C61 an informer whose threads are unref'd does not (threads ${threads})`, async () => {
    assert.equal(await outputOf(ALIVE, String(threads), 'unref'), 'synced, ended');
  });
}

test('C61 informers that never run start no thread, and the process ends', async () => {
  assert.equal(await outputOf(NEVER_RUN), '0 threads, ended');
});

test('C61 informers that never run keep no threads when the last that ran has stopped', async () => {
  assert.equal(await outputOf(NEVER_RUN, 'beside'), 'stopped, 2 threads, ended');
});
