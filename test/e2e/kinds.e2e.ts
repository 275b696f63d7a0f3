/**
 * Objects of built-in kinds at the embedded apiserver and at a real kube-apiserver: whole manifests, and each of them with every
 * field left out and changed, in creations and updates. Known differences are lines of `shapes/differences.txt`, which
 * `npm run suite -- shapes` writes.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { startControlPlane } from './control-plane.ts';
import { differencesOfServers } from './shapes/compare-servers.ts';
import { clientOf } from './shapes/read-shapes.ts';

const KNOWN = new URL('../../../test/e2e/shapes/differences.txt', import.meta.url);

test('objects of built-in kinds are accepted, refused and stored as by a real server, except for the known differences', async () => {
  await using controlPlane = await startControlPlane();
  const { lines, questions } = await differencesOfServers(clientOf(controlPlane));
  assert.ok(questions > 5000, `${questions} questions`);
  assert.deepEqual(lines, readFileSync(KNOWN, 'utf8').trimEnd().split('\n'), 'run npm run suite -- shapes');
});
