/** The tests of the operator of docs/operator.md, as they are, in the folder where their definition is. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { FOLDER } from './repository.ts';

const FILE = fileURLToPath(
  new URL('../../docs/examples/backup-operator/controller.test.js', import.meta.url),
);

test('the tests of the operator pass', async () => {
  const { NODE_TEST_CONTEXT: _context, NODE_OPTIONS: _options, ...env } = process.env;
  const child = spawn(process.execPath, [FILE], { cwd: FOLDER, env, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  const [code] = await once(child, 'close');
  assert.equal(code, 0, output);
  assert.match(output, /pass 4/);
});
