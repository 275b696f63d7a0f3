/** `kubeloom partitions` as a program: what it prints, and its exit code, while a group works and after its end. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { startEmbeddedApiServer } from '../../src/tools/apiserver/testing/index.ts';
import { PartitionGroup } from '../../src/partitions/index.ts';
import type { PartitionsReport } from '../../src/tools/cli/partitions-report.ts';
import { loadKubeConfig } from '../../src/index.ts';
import { ROOT } from '../unit/docs/documents.ts';
import { HANG_MS } from '../kit/hang.ts';
import { clusterOfTests } from './control-plane.ts';
import { until } from '../kit/until.ts';

const TITLE =
  'kubeloom partitions ends with 0 while all partitions are served, and with 1 after the group has ended';
const PARTITIONS = 4;

interface Ended {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

function kubeloom(...args: readonly string[]): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const command = [join(ROOT, 'dist/tools/cli.js'), ...args];
    execFile(process.execPath, command, { timeout: HANG_MS }, (error, output, errors) => {
      if (error?.signal) reject(new Error(`kubeloom did not end: ${output}${errors}`));
      else resolve({ code: Number(error?.code ?? 0), output, errors });
    });
  });
}

async function judged(kubeconfig: string): Promise<void> {
  const report = async (): Promise<[code: number, PartitionsReport]> => {
    const { code, output, errors } = await kubeloom(
      'partitions',
      'g',
      '--kubeconfig',
      kubeconfig,
      '-n',
      'default',
      '--json',
    );
    assert.match(output, /^\{/, `kubeloom ended with ${code}: ${errors}`);
    return [code, JSON.parse(output) as PartitionsReport];
  };
  const statesOf = ({ partitions }: PartitionsReport): string[] => partitions.map(({ state }) => state);
  assert.deepEqual(await report(), [1, { partitions: [], members: [] }]);

  const group = new PartitionGroup(loadKubeConfig({ path: kubeconfig }), {
    name: 'g',
    namespace: 'default',
    identity: 'web-0',
    partitions: PARTITIONS,
  });
  const stop = new AbortController();
  const running = group.run({ signal: stop.signal }, async ({ synced, drainSignal }) => {
    synced();
    if (!drainSignal.aborted) await once(drainSignal, 'abort');
  });
  try {
    let [code, served] = await report();
    // The heartbeat says with its next renewal that the works are active.
    await until(async () => {
      [code, served] = await report();
      return code === 0;
    }, 'a group that is served');
    assert.deepEqual(
      statesOf(served),
      Array.from({ length: PARTITIONS }, () => 'active'),
    );
    assert.match(served.members.at(-1)?.member ?? '', /^web-0\./);
    // A slow machine may lose a life between the two calls.
    const { output } = await kubeloom('partitions', 'g', '--kubeconfig', kubeconfig, '-n', 'default');
    assert.match(output, /^PARTITION +OWNER +EPOCH +AGE +STATE\n0 +\S+ +\d+ +\d+s +\S/);
  } finally {
    // A group that goes on would keep the process alive, and hide the failure.
    stop.abort();
    await running;
  }
  const [codeAfter, ended] = await report();
  assert.equal(codeAfter, 1);
  assert.deepEqual(
    statesOf(ended),
    Array.from({ length: PARTITIONS }, () => 'not served'),
  );
}

describe('at the embedded apiserver', () => {
  test(TITLE, async () => {
    await using server = await startEmbeddedApiServer();
    const folder = await mkdtemp(join(tmpdir(), 'kubeloom-'));
    try {
      const kubeconfig = join(folder, 'kubeconfig');
      await writeFile(kubeconfig, server.kubeConfigYaml);
      await judged(kubeconfig);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('at a real kube-apiserver', () => {
  const cluster = clusterOfTests();

  test(TITLE, () => judged(cluster().controlPlane.kubeconfigPath));
});
