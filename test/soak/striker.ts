/** Commits the faults of a window on the program, the members and the server. */
import type { FaultyProxy, ProxyMode } from '../e2e/members/faulty-proxy.ts';
import type { Fault as MemberFault, Members } from '../e2e/members/members.ts';
import { until } from '../kit/until.ts';
import { isClaimed, order } from './claim.ts';
import type { ClaimedFault } from './claim.ts';
import { LAST_WRITES } from './faults.ts';
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

/** Resolves when the fault is over. @param over resolves when it has lasted for long enough */
type Commit = (struck: Struck, over: () => Promise<void>) => Promise<void>;

const COMMITS: Readonly<Record<FaultName, Commit>> = {
  'shard thread exits': claimed('shard-exits'),
  'shard thread blocks': claimed('shard-blocks'),
  'pool thread exits': claimed('pool-exits'),
  'pool thread blocks': claimed('pool-blocks'),
  'reflector thread throws': inProgram('reflector'),
  'thread with a cache is terminated': inProgram('reader'),
  'main thread blocks': inProgram('main'),
  async 'handlers are slow'(struck, over) {
    await inProgram('slow')(struck, over);
    await over();
    await inProgram('prompt')(struck, over);
  },
  'program is cut off': offProgram('cut'),
  'program receives nothing': offProgram('silent'),
  async 'names are made again'(struck, over) {
    await Promise.all([offProgram('cut')(struck, over), struck.load.again()]);
  },
  'member is killed': replacing('SIGKILL'),
  'member is stopped': replacing('SIGTERM'),
  'member is frozen': onMember('freeze'),
  'member is slow': onMember('slow'),
  'member receives nothing': onMember('silent'),
  'member is cut off': onMember('cut'),
  'apiserver is killed': ({ server }) => server.restart('SIGKILL'),
  'apiserver is restarted': ({ server }) => server.restart('SIGTERM'),
  'history is compacted': ({ server }) => server.compact(),
};

/**
 * Commits the faults of a window, each at its place in the load; a fault may last while others begin. Resolves when all are
 * over, with those that have missed. The program is scraped when a fault begins, and when it is over.
 */
export async function strikeAll(
  struck: Struck,
  { strikes }: PlannedWindow,
  scrape: () => Promise<void>,
): Promise<string[]> {
  const { load } = struck;
  const missed: string[] = [];
  const commits: Promise<void>[] = [];
  const committed = async ({ fault, lastsWrites }: Strike): Promise<void> => {
    try {
      const scraped = scrape();
      await COMMITS[fault](struck, () => load.answered(lastsWrites));
      await scraped;
    } catch (error) {
      missed.push(`${fault}: ${String(error)}`);
    }
    await scrape();
  };
  for (const strike of strikes) {
    await load.answered(strike.afterWrites);
    commits.push(committed(strike));
  }
  await Promise.all(commits);
  await load.answered(LAST_WRITES);
  await scrape();
  return missed;
}

function claimed(fault: ClaimedFault): Commit {
  return async ({ folder }) => {
    order(folder, fault);
    await until(() => isClaimed(folder, fault), 'a thread that takes the fault');
  };
}

function inProgram(fault: ProgramFault): Commit {
  return ({ program }) => program.call({ type: 'fault', fault });
}

function offProgram(mode: ProxyMode): Commit {
  return async ({ proxy }, over) => {
    proxy.mode = mode;
    await over();
    proxy.mode = 'open';
  };
}

function replacing(signal: 'SIGKILL' | 'SIGTERM'): Commit {
  return async ({ members }) => members.replace(await struckMember(members), signal);
}

function onMember(how: MemberFault): Commit {
  return async ({ members }, over) => {
    const identity = await struckMember(members);
    // A frozen member must find that it has lost its partitions.
    const isLost = (): Promise<void> =>
      until(() => members.partitionsOf(identity) === 0, `other owners of the partitions of ${identity}`);
    await members.strike(identity, how, how === 'freeze' ? isLost : over);
  };
}

/** Returns a member that no other fault strikes, the one that has the most partitions: it has the most to lose. */
async function struckMember(members: Members): Promise<string> {
  await until(() => members.healthy.length > 0, 'a member that is not struck');
  const [struck] = members.healthy.toSorted((one, other) => other.partitions - one.partitions);
  return struck?.identity ?? '';
}
