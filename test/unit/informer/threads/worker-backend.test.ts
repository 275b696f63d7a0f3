/** Entry files of threads. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { workerUrl } from '../../../../src/informer/threads/worker-backend.ts';

test('an indexer thread loads no ES module by `require`, because ending a thread there aborts the process', () => {
  const entry = fileURLToPath(workerUrl('indexer'));
  const program = `process.stdout.write(typeof require(${JSON.stringify(entry)}))`;
  // Loads it like Piscina, with `require` of ES modules disabled.
  const output = execFileSync(process.execPath, ['--no-experimental-require-module', '--eval', program]);
  assert.equal(output.toString(), 'function');
});

test('a missing entry file is an error that names where it should be', (context) => {
  context.mock.method(fs, 'existsSync', () => false);
  syncBuiltinESMExports();
  try {
    assert.throws(() => workerUrl('reflector'), {
      code: 'ERR_KUBELOOM_WORKER_FILE',
      message: /not found at file:.*\/workers\/reflector\.js or .*docs\/bundling\.md/,
    });
  } finally {
    context.mock.restoreAll();
    syncBuiltinESMExports();
  }
});
