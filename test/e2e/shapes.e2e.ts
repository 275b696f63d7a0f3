/** The table of built-in kinds of the embedded apiserver is the table of the server from which it was written. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { startControlPlane } from './control-plane.ts';
import { readShapes } from './shapes/read-shapes.ts';

test('the table of built-in kinds is equal to the documents of the server', async () => {
  await using controlPlane = await startControlPlane();
  const path = new URL('../../../src/tools/apiserver/shapes/kubernetes.json', import.meta.url);
  assert.equal(readFileSync(path, 'utf8'), await readShapes(controlPlane), 'run npm run suite -- shapes');
});
