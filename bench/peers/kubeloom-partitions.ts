/**
 * A member of a large group of partitions without any change: `node kubeloom-partitions.js TASK`. The other members run
 * in a separate process (`node kubeloom-partitions.js URL MEMBERS`), as does the embedded apiserver.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as after } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startEmbeddedApiServer } from '../../src/tools/apiserver/run/start.ts';
import { PartitionGroup } from '../../src/partitions/index.ts';
import type { Task } from '../task.ts';
import { packageVersion, runProgram } from './program.ts';
import type { Result } from './program.ts';
import { measureRest } from './rest.ts';

const PARTITIONS = 128;
const ASK_AGAIN_MS = 100;

function join(server: string, identity: string): PartitionGroup {
  const group = new PartitionGroup(
    { server },
    {
      name: 'bench',
      namespace: 'default',
      identity,
      partitions: PARTITIONS,
    },
  );
  void group.run({ signal: new AbortController().signal }, ({ synced, drainSignal }) => {
    synced();
    return once(drainSignal, 'abort').then(() => undefined);
  });
  return group;
}

/** Waits until the member owns its share, and no more. */
async function settled(group: PartitionGroup, members: number): Promise<void> {
  while (group.owned.length === 0 || group.owned.length > Math.ceil(PARTITIONS / members))
    await after(ASK_AGAIN_MS);
}

async function run(task: Task): Promise<Result> {
  const { members = 1 } = task;
  await using server = await startEmbeddedApiServer({ isolation: 'process', tls: false, token: '' });
  const program = fileURLToPath(import.meta.url);
  const others = spawn(process.execPath, [program, server.url, String(members - 1)], { stdio: 'ignore' });
  try {
    const group = join(server.url, 'measured');
    await settled(group, members);
    return await measureRest(task);
  } finally {
    others.kill();
  }
}

const [, , url = '', count] = process.argv;
if (count === undefined) await runProgram('kubeloom', packageVersion(import.meta.url), run);
else for (let index = 0; index < Number(count); index++) join(url, `other-${index}`);
