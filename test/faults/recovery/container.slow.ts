/** A program with a large cache in a small container. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { startEmbeddedApiServer } from '../../../src/tools/apiserver/testing/index.ts';
import { ControlGroup } from '../../kit/control-group.ts';
import { HANG_MS } from '../../kit/hang.ts';
import { InformerProcess } from '../../kit/informer-process.ts';
import { until } from '../../kit/until.ts';

const PODS = 100_000;
const POD_BYTES = 5120;
const CONTAINER_BYTES = 256 * 2 ** 20;
const CHANGES_PER_SECOND = 2000;
/** Changes before the relist, and after it: each more than all that rest at a time. */
const CHANGES = 20_000;
const KIB = 1024;

/** Returns the memory of a process that a container counts: without the files of the program, which are dropped at need. */
function countedBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kib = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]);
  return (kib('RssAnon') + kib('RssShmem')) * KIB;
}

test(
  '100,000 pods of 5 KB live in 256 MiB, through the list, 2,000 changes a second, and a relist under them',
  { skip: process.platform !== 'linux' && 'reads /proc' },
  async (context) => {
    await using server = await startEmbeddedApiServer({ isolation: 'process' });
    await server.populate({ count: PODS, objectBytes: POD_BYTES });
    using group = ControlGroup.limitedTo(CONTAINER_BYTES);
    // Without a control group, options give the program and V8 its limit.
    const options = { handler: 'keys', ...(group ? {} : { memoryLimitBytes: CONTAINER_BYTES }) } as const;
    const limits = group ? { group } : { heapMiB: CONTAINER_BYTES / 2 ** 20 };
    await using program = await InformerProcess.start(server, options, limits);
    let most = 0;
    const look = (): void => void (most = Math.max(most, countedBytes(program.child.pid ?? 0)));
    const load = async (): Promise<void> => {
      let isOver = false;
      const loading = server.load({ rate: CHANGES_PER_SECOND, durationMs: HANG_MS, eventsMax: CHANGES });
      const looking = until(() => {
        look();
        return isOver;
      });
      const [{ issued }] = await Promise.all([loading.finally(() => (isOver = true)), looking]);
      assert.equal(issued, CHANGES);
    };
    await load();
    const before = (await server.requests()).length;
    const changes = load();
    await server.compact();
    await server.expireWatches();
    await until(async () => (await server.requests()).length > before);
    await changes;
    const revision = await server.revision();
    await until(async () => {
      look();
      return (await program.state()).version === String(revision);
    });
    const { size, restarts } = await program.state();
    assert.deepEqual({ size, restarts }, { size: PODS, restarts: 0 });
    context.diagnostic(
      `${group ? 'in a control group' : 'without a control group'}: ${Math.round(most / 2 ** 20)} MiB`,
    );
    assert.ok(most <= CONTAINER_BYTES, `${most} bytes`);
  },
);
