/** Writes the table of built-in kinds from a real kube-apiserver: `npm run suite -- shapes`. */
import { writeFileSync } from 'node:fs';
import { startControlPlane } from '../control-plane.ts';
import { readShapes } from './read-shapes.ts';

const TABLE = new URL('../../../../src/tools/apiserver/shapes/kubernetes.json', import.meta.url);

const controlPlane = await startControlPlane();
try {
  writeFileSync(TABLE, await readShapes(controlPlane));
} finally {
  await controlPlane.stop();
}
