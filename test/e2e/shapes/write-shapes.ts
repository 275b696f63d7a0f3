/**
 * Writes the table of built-in kinds from a real kube-apiserver, and the differences that remain: `npm run suite -- shapes`. A second
 * run is needed after a change of the table, because the first compares with the table that it has read.
 */
import { writeFileSync } from 'node:fs';
import { startControlPlane } from '../control-plane.ts';
import { differencesOfServers } from './compare-servers.ts';
import { clientOf, readShapes } from './read-shapes.ts';

const TABLE = new URL('../../../../src/tools/apiserver/shapes/kubernetes.json', import.meta.url);
const DIFFERENCES = new URL('../../../../test/e2e/shapes/differences.txt', import.meta.url);

const controlPlane = await startControlPlane();
try {
  writeFileSync(TABLE, await readShapes(controlPlane));
  const { lines } = await differencesOfServers(clientOf(controlPlane));
  writeFileSync(DIFFERENCES, `${lines.join('\n')}\n`);
} finally {
  await controlPlane.stop();
}
