/** Commits the faults of a window on the program, the members and the server. */
import { setTimeout } from 'node:timers/promises';
import type { FaultyProxy, ProxyMode } from '../e2e/members/faulty-proxy.ts';
import type { Fault as MemberFault, Members } from '../e2e/members/members.ts';
import { isClaimed, order } from './claim.ts';
import type { ClaimedFault } from './claim.ts';
import type { FaultName, PlannedWindow, Strike } from './faults.ts';
import type { Load } from './load.ts';
import type { ProgramFault } from './program-messages.ts';
import type { ProgramProcess } from './program-process.ts';
import type { SoakServer } from './soak-server.ts';

/** The parts that faults strike. */
export interface Struck {
  readonly server: SoakServer;
  readonly program: ProgramProcess;
  /** The proxy between the program and the server. */
  readonly proxy: FaultyProxy;
  readonly members: Members;
  readonly load: Load;
  /** Folder of the soak's files. */
  readonly folder: string;
}

type Commit = (struck: Struck, lastsMs: number) => Promise<void>;

/** A fault that has not struck after this time has missed. */
const LAND_MAX_MS = 120_000;
const LOOK_MS = 50;
/** A main thread that is blocked for longer is a program that its kubelet restarts. */
const BLOCK_MAX_MS = 700;
/** A freeze outlives the leases: the member must find that it has lost its partitions. */
const FREEZE_MS = 4000;

const COMMITS: Readonly<Record<FaultName, Commit>> = {
  'shard thread exits': claimed('shard-exits'),
  'shard thread blocks': claimed('shard-blocks'),
  'pool thread exits': claimed('pool-exits'),
  'pool thread blocks': claimed('pool-blocks'),
  'reflector thread throws': inProgram('reflector'),
  'thread with a cache is terminated': inProgram('reader'),
  'main thread blocks': inProgram('main'),
  'handlers are slow': inProgram('slow'),
  'program is cut off': offProgram('cut'),
  'program receives nothing': offProgram('silent'),
  async 'names are made again'(struck, lastsMs) {
    await Promise.all([offProgram('cut')(struck, lastsMs), struck.load.again()]);
  },
  'member is killed': onMember('kill'),
  'member is stopped': onMember('terminate'),
  'member is frozen': onMember('freeze'),
  'member is slow': onMember('slow'),
  'member receives nothing': onMember('silent'),
  'member is cut off': onMember('cut'),
  'apiserver is killed': ({ server }) => server.restart('SIGKILL'),
  'apiserver is restarted': ({ server }) => server.restart('SIGTERM'),
  'history is compacted': ({ server }) => server.compact(),
};

/**
 * Commits the faults of a window, each at its time; a fault may last while others begin. Resolves when all are over, with those
 * that have missed.
 */
export async function strikeAll(struck: Struck, { strikes, loadMs }: PlannedWindow): Promise<string[]> {
  const startMs = performance.now();
  const missed: string[] = [];
  const commits: Promise<void>[] = [];
  const committed = async ({ fault, lastsMs }: Strike): Promise<void> => {
    try {
      await COMMITS[fault](struck, lastsMs);
    } catch (error) {
      missed.push(`${fault}: ${String(error)}`);
    }
  };
  for (const strike of strikes) {
    await setTimeout(Math.max(0, startMs + strike.atMs - performance.now()));
    commits.push(committed(strike));
  }
  await setTimeout(Math.max(0, startMs + loadMs - performance.now()));
  await Promise.all(commits);
  return missed;
}

function claimed(fault: ClaimedFault): Commit {
  return async ({ folder }) => {
    order(folder, fault);
    await until(() => isClaimed(folder, fault), 'no thread has taken it');
  };
}

function inProgram(fault: ProgramFault): Commit {
  return ({ program }, lastsMs) =>
    program.call({
      type: 'fault',
      fault,
      lastsMs: fault === 'main' ? Math.min(lastsMs, BLOCK_MAX_MS) : lastsMs,
    });
}

function offProgram(mode: ProxyMode): Commit {
  return async ({ proxy }, lastsMs) => {
    proxy.mode = mode;
    await setTimeout(lastsMs);
    proxy.mode = 'open';
  };
}

/** Strikes a member that no other fault strikes, the one that has the most partitions: it has the most to lose. */
function onMember(how: MemberFault): Commit {
  return async ({ members }, lastsMs) => {
    await until(() => members.healthy.length > 0, 'every member is struck');
    const [struck] = members.healthy.toSorted((one, other) => other.partitions - one.partitions);
    if (struck) await members.strike(struck.identity, how, how === 'freeze' ? FREEZE_MS : lastsMs);
  };
}

async function until(isSo: () => boolean, otherwise: string): Promise<void> {
  const endMs = performance.now() + LAND_MAX_MS;
  while (!isSo()) {
    if (performance.now() > endMs) throw new Error(otherwise);
    await setTimeout(LOOK_MS);
  }
}
