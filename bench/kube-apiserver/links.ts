/** Measures a list of a real kube-apiserver over a link with a given bandwidth, as a streaming list, as LIST, and as LIST in gzip. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ObjectClient } from '../../src/controller/index.ts';
import { loadKubeConfig, resources } from '../../src/index.ts';
import type { WireOf } from '../../src/index.ts';
import { samplePod } from '../../src/tools/apiserver/load/sample-pod.ts';
import { startControlPlane } from '../../test/e2e/control-plane.ts';
import type { ControlPlane } from '../../test/e2e/control-plane.ts';
import { getText } from '../../test/e2e/get-text.ts';
import { Link } from '../../test/kit/link.ts';
import { FORMS, LABEL } from './links-figures.ts';
import type { ClientFigures, LinkFigures } from './links-figures.ts';
import { sumOfMetric } from './server-metrics.ts';

export interface LinksSize {
  readonly objects: number;
  readonly bytes: number;
  /** Megabits a second; 0: no limit. */
  readonly links: readonly number[];
  readonly rounds: number;
}

const CLIENT = fileURLToPath(new URL('link-client.js', import.meta.url));
const IN_FLIGHT = 32;
/** A late timer is caught up to this extent. */
const LATE_MS_MAX = 20;

export async function measureLinks(
  { objects, bytes, links, rounds }: LinksSize,
  print: (line: string) => void,
): Promise<LinkFigures[]> {
  await using controlPlane = await startControlPlane();
  await createPods(controlPlane, objects, bytes);
  const folder = await mkdtemp(join(tmpdir(), 'kubeloom-'));
  const caFile = join(folder, 'ca.pem');
  try {
    await writeFile(caFile, Buffer.from(controlPlane.caData, 'base64'));
    const figures: LinkFigures[] = [];
    for (const megabitsPerSecond of links)
      for (let round = 0; round < rounds; round++)
        for (const form of FORMS) {
          await using link = await Link.start(controlPlane.server, paceOf(megabitsPerSecond));
          const before = await serverCpuSeconds(controlPlane);
          const args = [CLIENT, link.url, caFile, controlPlane.token, form];
          const { stdout } = await promisify(execFile)(process.execPath, args);
          const client = JSON.parse(stdout) as ClientFigures;
          if (client.objects !== objects) throw new Error(`${client.objects} objects, not ${objects}`);
          const after = await serverCpuSeconds(controlPlane);
          const { receivedBytes } = link;
          figures.push({ form, megabitsPerSecond, receivedBytes, client, serverCpuSeconds: after - before });
          print(`${megabitsPerSecond} Mbit/s, ${form}: ${(client.durationMs / 1000).toFixed(1)} s`);
        }
    return figures;
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function createPods(controlPlane: ControlPlane, count: number, bytes: number): Promise<void> {
  const client = new ObjectClient(loadKubeConfig({ path: controlPlane.kubeconfigPath }));
  const [label = '', value = ''] = LABEL.split('=');
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) {
      const { metadata, spec } = samplePod({ index, namespace: 'default', bytes });
      const { name = '', labels, annotations = {} } = metadata;
      await client.create(resources.core.v1.pods, {
        metadata: { name, namespace: 'default', annotations, labels: { ...labels, [label]: value } },
        spec: spec as object as NonNullable<WireOf<'core', 'v1', 'Pod'>['spec']>,
      });
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
}

async function serverCpuSeconds(controlPlane: ControlPlane): Promise<number> {
  return sumOfMetric(await getText(controlPlane, '/metrics'), 'process_cpu_seconds_total');
}

/** @returns the pace of a link, shared by all that passes it */
function paceOf(megabitsPerSecond: number): (bytes: number) => Promise<void> {
  const bytesPerMs = megabitsPerSecond === 0 ? Infinity : (megabitsPerSecond * 1e6) / 8000;
  let freeMs = 0;
  return async (bytes) => {
    const nowMs = performance.now();
    freeMs = Math.max(freeMs, nowMs - LATE_MS_MAX) + bytes / bytesPerMs;
    if (freeMs > nowMs) await setTimeout(freeMs - nowMs);
  };
}
