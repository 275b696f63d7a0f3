/** The other processes of a load test end with the one that started them. */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const GENERATOR_ENTRY = fileURLToPath(
  new URL('../../../../src/tools/loadtest/write/generator-process.js', import.meta.url),
);

describe('another process of a load test', () => {
  it('ends when the one that started it ended before it listened', async () => {
    const child = fork(GENERATOR_ENTRY, {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      serialization: 'advanced',
    });
    child.disconnect();
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });
});
