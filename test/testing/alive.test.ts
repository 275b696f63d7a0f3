/** Who keeps the process alive, and for how long. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const CHILD = fileURLToPath(new URL('./alive-child.js', import.meta.url));

async function outputOf(...options: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [CHILD, ...options]);
  return stdout;
}

for (const threads of [0, 1, 2]) {
  test(`C61 an informer keeps the process alive until it is stopped (threads ${threads})`, async () => {
    assert.equal(await outputOf(String(threads)), 'synced, alive, ended');
  });

  test(`C61 and does not once its threads were let go (threads ${threads})`, async () => {
    assert.equal(await outputOf(String(threads), 'unref'), 'synced, ended');
  });
}
