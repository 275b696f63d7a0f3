/**
 * Measures the memory of the server and of the client while informers list large objects at once: KEP-3157's experiment. The
 * apiserver is started anew for each measurement, because a Go program keeps the memory that it once had.
 */
import { execFile } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ObjectClient } from '../../src/controller/index.ts';
import { loadKubeConfig, resources } from '../../src/index.ts';
import { startControlPlane } from '../../test/e2e/control-plane.ts';
import { memoryOf } from './memory-of-process.ts';
import { LABEL, LIST_MODES } from './streaming-figures.ts';
import type { ClientFigures, StreamingFigures } from './streaming-figures.ts';

export interface StreamingSize {
  readonly objects: number;
  readonly bytes: number;
  readonly informers: readonly number[];
}

const CLIENT = fileURLToPath(new URL('streaming-client.js', import.meta.url));
/** A server that has just started is still busy. */
const REST_MS = 3000;

export async function measureStreaming(
  { objects, bytes, informers }: StreamingSize,
  print: (line: string) => void,
): Promise<StreamingFigures[]> {
  await using controlPlane = await startControlPlane();
  const client = new ObjectClient(loadKubeConfig({ path: controlPlane.kubeconfigPath }));
  const [label = '', value = ''] = LABEL.split('=');
  for (let number = 0; number < objects; number++)
    await client.create(resources.core.v1.configMaps, {
      metadata: { name: `streaming-${number}`, namespace: 'default', labels: { [label]: value } },
      data: { text: 'x'.repeat(bytes) },
    });
  const figures: StreamingFigures[] = [];
  for (const mode of LIST_MODES)
    for (const count of informers) {
      await controlPlane.restartApiServer('SIGTERM');
      await setTimeout(REST_MS);
      const serverBefore = memoryOf(controlPlane.apiServerPid());
      const args = [CLIENT, controlPlane.kubeconfigPath, mode, String(count)];
      const { stdout } = await promisify(execFile)(process.execPath, args);
      const ofClient = JSON.parse(stdout) as ClientFigures;
      if (ofClient.objects !== count * objects)
        throw new Error(`${count} informers have ${ofClient.objects} objects, not ${count * objects}`);
      const serverAfter = memoryOf(controlPlane.apiServerPid());
      figures.push({ mode, informers: count, client: ofClient, serverBefore, serverAfter });
      print(`${mode}, ${count} informers: ${(ofClient.durationMs / 1000).toFixed(1)} s`);
    }
  return figures;
}
