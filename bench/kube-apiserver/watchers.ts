/**
 * Measures what slow watchers cost a healthy watcher at a real kube-apiserver, from the client's side: the scenarios of
 * kubernetes/kubernetes#141475.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ObjectClient } from '../../src/controller/index.ts';
import { loadKubeConfig, resources } from '../../src/index.ts';
import { startControlPlane } from '../../test/e2e/control-plane.ts';
import type { ControlPlane } from '../../test/e2e/control-plane.ts';
import { getText } from '../../test/e2e/get-text.ts';
import { nowMs } from '../../test/e2e/members/history.ts';
import { sumOfMetric } from './server-metrics.ts';
import { LABEL, NEIGHBOURS } from './watchers-figures.ts';
import type { Neighbours, WatcherFigures } from './watchers-figures.ts';

export interface WatchersSize {
  readonly rates: readonly number[];
  /** Time for each row. */
  readonly seconds: number;
  /** Number of slow watchers. */
  readonly slow: number;
  /** Size of each object. */
  readonly bytes: number;
}

const PROCESS = fileURLToPath(new URL('watcher-process.js', import.meta.url));
const { configMaps } = resources.core.v1;
const OBJECTS = 20;
const IN_FLIGHT = 64;
const TICK_MS = 5;
/** The watches are open, and the last events have arrived, after this time. */
const SETTLE_MS = 2000;

/** @param print receives what is done */
export async function measureWatchers(
  size: WatchersSize,
  print: (line: string) => void,
): Promise<WatcherFigures[]> {
  await using controlPlane = await startControlPlane();
  const folder = await mkdtemp(join(tmpdir(), 'kubeloom-'));
  const caFile = join(folder, 'ca.pem');
  try {
    await writeFile(caFile, Buffer.from(controlPlane.caData, 'base64'));
    const scene = new Scene(controlPlane, caFile, size);
    await scene.fill();
    const figures: WatcherFigures[] = [];
    for (const rate of size.rates)
      for (const neighbours of NEIGHBOURS) {
        print(`${rate} changes/s, ${neighbours}`);
        figures.push(await scene.measure(rate, neighbours));
      }
    return figures;
  } finally {
    await rm(folder, { recursive: true });
  }
}

class Scene {
  readonly #controlPlane: ControlPlane;
  readonly #caFile: string;
  readonly #size: WatchersSize;
  readonly #client: ObjectClient;
  #changes = 0;

  constructor(controlPlane: ControlPlane, caFile: string, size: WatchersSize) {
    this.#controlPlane = controlPlane;
    this.#caFile = caFile;
    this.#size = size;
    this.#client = new ObjectClient(loadKubeConfig({ path: controlPlane.kubeconfigPath }));
  }

  async fill(): Promise<void> {
    const [label = '', value = ''] = LABEL.split('=');
    const data = { padding: 'x'.repeat(this.#size.bytes) };
    for (let number = 0; number < OBJECTS; number++)
      await this.#client.create(configMaps, {
        metadata: { name: nameOf(number), namespace: 'default', labels: { [label]: value } },
        data,
      });
  }

  async measure(changesPerSecond: number, neighbours: Neighbours): Promise<WatcherFigures> {
    const delaysMs: number[] = [];
    const healthy = this.#start('alone', 1);
    createInterface({ input: healthy.stdout! }).on('line', (line) => delaysMs.push(Number(line)));
    const slow = neighbours === 'alone' ? undefined : this.#start(neighbours, this.#size.slow);
    await setTimeout(SETTLE_MS);
    const before = await this.#server();
    const changes = await this.#change(changesPerSecond);
    await setTimeout(SETTLE_MS);
    const after = await this.#server();
    for (const each of [healthy, slow]) await end(each);
    return {
      neighbours,
      changesPerSecond,
      seconds: this.#size.seconds,
      changes,
      delaysMs: delaysMs.toSorted((one, other) => one - other),
      serverCpuSeconds: after.cpuSeconds - before.cpuSeconds,
      terminated: after.terminated - before.terminated,
    };
  }

  /** Changes objects in an open loop. @returns the number of answered writes */
  async #change(changesPerSecond: number): Promise<number> {
    const startMs = nowMs();
    const pending = new Set<Promise<unknown>>();
    let sent = 0;
    for (;;) {
      const pastMs = nowMs() - startMs;
      if (pastMs >= this.#size.seconds * 1000) break;
      while (sent < (pastMs / 1000) * changesPerSecond && pending.size < IN_FLIGHT) {
        sent++;
        const key = `default/${nameOf(this.#changes++ % OBJECTS)}`;
        const patch = { data: { sent: String(nowMs()) } };
        const writing = this.#client.patch(configMaps, key, patch).finally(() => pending.delete(writing));
        pending.add(writing);
      }
      await setTimeout(TICK_MS);
    }
    await Promise.all(pending);
    return sent;
  }

  #start(neighbours: Neighbours, count: number): ChildProcess {
    const { server, token } = this.#controlPlane;
    return spawn(process.execPath, [PROCESS, server, this.#caFile, token, neighbours, String(count)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
  }

  async #server(): Promise<{ readonly cpuSeconds: number; readonly terminated: number }> {
    const text = await getText(this.#controlPlane, '/metrics');
    return {
      cpuSeconds: sumOfMetric(text, 'process_cpu_seconds_total'),
      terminated: sumOfMetric(text, 'apiserver_terminated_watchers_total'),
    };
  }
}

async function end(child: ChildProcess | undefined): Promise<void> {
  if (!child) return;
  const exited = once(child, 'close');
  child.stdin?.end();
  await exited;
}

function nameOf(number: number): string {
  return `watched-${number}`;
}
