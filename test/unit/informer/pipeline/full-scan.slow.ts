/** A loop that reads the object of each of 110,000 pods fits into a heap of 512 MB. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startEmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';

const PODS = 110_000;
const OBJECT_BYTES = 5000;
const CHILD = fileURLToPath(new URL('./full-scan-child.js', import.meta.url));

test('a loop over 110,000 pods that reads each object runs with --max-old-space-size=512', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kubeloom-scan-'));
  await using server = await startEmbeddedApiServer({ isolation: 'process', tls: false });
  await server.populate({ count: PODS, objectBytes: OBJECT_BYTES });
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, server.kubeConfigYaml);
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--max-old-space-size=512',
    CHILD,
    kubeconfig,
  ]);
  await rm(folder, { recursive: true });
  assert.deepEqual(JSON.parse(stdout), { read: PODS, hasContainers: true });
});
