/** The library generates no code from text: it runs where that is forbidden. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { HANG_MS } from '../kit/hang.ts';

test('informers with msgpack run under --disallow-code-generation-from-strings', async () => {
  const child = fileURLToPath(new URL('no-codegen-child.js', import.meta.url));
  const args = ['--disallow-code-generation-from-strings', child];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: HANG_MS });
  assert.equal(stdout, '20 objects, 20 parsed\n');
});
