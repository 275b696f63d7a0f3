/** Entry files of threads. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { WorkerBackend, workerUrl } from '../../../../src/informer/threads/worker-backend.ts';
import { PipelineWords, allocatePipeline } from '../../../../src/shared/pipeline-layout.ts';

const nothing = (): undefined => undefined;
const EVENTS = { fromReflector: nothing, fromShard: nothing, died: nothing };

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

test('idle threads show signs of life: a shard by itself, the reflector when it is asked', async () => {
  const memory = allocatePipeline(1, 2 ** 23, 2 ** 14);
  const words = new PipelineWords(memory);
  const backend = new WorkerBackend(memory, EVENTS, { heartbeatMs: 10, readWindowMs: 5 });
  for (const heartbeat of [words.reflectorHeartbeat, words.shard(0).heartbeat]) {
    for (let beats = 0; beats < 3; beats++) {
      const before = heartbeat.load();
      while (heartbeat.load() === before) {
        backend.askForHeartbeats();
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
  }
  await backend.close();
});

test('C325 a message to the reflector rings the bell on which the thread sleeps through a window', async () => {
  const memory = allocatePipeline(1, 2 ** 23, 2 ** 14);
  const backend = new WorkerBackend(memory, EVENTS, { heartbeatMs: 10, readWindowMs: 50 });
  const { controlBell } = new PipelineWords(memory);
  assert.ok(!controlBell.hasRung);
  backend.toReflector({ type: 'stop', informer: 7 });
  assert.ok(controlBell.hasRung);
  await backend.close();
});
