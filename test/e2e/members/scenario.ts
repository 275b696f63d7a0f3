/**
 * The scenario: one member, then four, then faults, then two members, under a load of changes; and what came of it. All
 * choices follow from the seed, but not the times.
 */
import { setTimeout } from 'node:timers/promises';
import { seededRandom } from '../../../src/base/random.ts';
import type { Random } from '../../../src/base/clock.ts';
import { loadKubeConfig } from '../../../src/index.ts';
import { TemporaryFolder } from '../../kit/temporary-folder.ts';
import { LEASE, nowMs } from './history.ts';
import type { Line } from './history.ts';
import { judge, undelivered } from './judge.ts';
import type { Verdict } from './judge.ts';
import { Load } from './load.ts';
import { Members } from './members.ts';
import type { Fault } from './members.ts';

const MEMBERS = 4;
const PARTITIONS = 16;
const RATE_PER_SECOND = 150;
const LOOK_MS = 250;
/** Time in which the events of four members are counted. */
const COUNT_MS = 2500;
const PHASE_MS = 1000;
const PAUSE_MAX_MS = 1000;
/** Every second fault is a kill. */
const OTHERS: readonly Fault[] = ['terminate', 'freeze', 'freeze', 'slow', 'silent', 'cut'];
const SETTLE_MAX_MS = 120_000;
/**
 * A partition is free when its lease has ended. If its next owner was struck as well, that one's heartbeat ends first, and
 * another member waits for as long before it takes the partition. The rest is for lists, and for machines that are slow.
 */
const WAIT_MAX_MS = 90_000;

/** The server of a scenario. */
export interface Target {
  /** Its server is `https://127.0.0.1:PORT`. */
  readonly kubeconfig: string;
  /** Returns the number of events of ConfigMaps that the server has sent so far; undefined when it does not count. */
  readonly sentEvents: () => Promise<number | undefined>;
}

export interface Outcome extends Verdict {
  /** Parts of all changes that each of four members received. */
  readonly shares: readonly number[];
  /** Events that the server sent for each change, to four members together. */
  readonly sentPerChange: number | undefined;
  readonly lines: readonly Line[];
}

export async function runScenario(target: Target, kills: number, seed: number): Promise<Outcome> {
  const { kubeconfig } = target;
  await using folder = new TemporaryFolder();
  const source = loadKubeConfig({ path: folder.write('kubeconfig', kubeconfig) });
  const load = new Load(source, RATE_PER_SECOND);
  await load.fill();
  await using members = new Members(kubeconfig);
  const lines = (): Line[] => [...members.lines(), ...load.lines];
  const stop = new AbortController();
  const loading = load.run(stop.signal);
  let counted: Pick<Outcome, 'shares' | 'sentPerChange'>;
  try {
    await members.start();
    await setTimeout(PHASE_MS);
    while (members.healthy.length < MEMBERS) await members.start();
    await until(() => members.healthy.every(({ partitions }) => partitions === PARTITIONS / MEMBERS));
    counted = await countEvents(target, lines, members);
    await strikeAll(members, kills, seededRandom(seed));
    await members.leave(MEMBERS / 2);
    await setTimeout(PHASE_MS);
  } finally {
    stop.abort();
    await loading;
  }
  await until(async () => {
    await load.touch();
    return undelivered(lines()).length === 0 && (await load.held()).length === 0;
  });
  const held = await load.held();
  await members.leave(0);
  const verdict = judge(lines(), WAIT_MAX_MS);
  const violations = [
    ...verdict.violations,
    ...members.failures,
    ...held.map((key) => `no member has removed the finalizer of ${key}`),
  ];
  return { ...verdict, ...counted, violations, lines: lines() };
}

/** Strikes members one after the other. A fault may last while others begin, but one member with partitions is left. */
async function strikeAll(members: Members, kills: number, random: Random): Promise<void> {
  const strikes: Promise<void>[] = [];
  for (let killed = 0; killed < kills;) {
    const how = random() < 0.5 ? 'kill' : (OTHERS[Math.floor(random() * OTHERS.length)] ?? 'kill');
    // A frozen member must find that it has lost its partitions; other faults end before the lease does, or later.
    const lastsMs = LEASE.leaseDurationMs * (how === 'freeze' ? 1 + random() : 2 * random());
    const { healthy } = members;
    const struck = healthy[Math.floor(random() * healthy.length)];
    if (struck) {
      strikes.push(members.strike(struck.identity, how, lastsMs));
      if (how === 'kill') killed++;
    }
    await setTimeout(random() * PAUSE_MAX_MS);
    await until(() => members.healthy.filter(({ partitions }) => partitions > 0).length > 1);
  }
  await Promise.all(strikes);
}

/** Counts for a time which changes each of the members receives. */
async function countEvents(
  { sentEvents }: Target,
  lines: () => readonly Line[],
  members: Members,
): Promise<Pick<Outcome, 'shares' | 'sentPerChange'>> {
  const fromMs = nowMs();
  const sentBefore = await sentEvents();
  await setTimeout(COUNT_MS);
  const sent = await sentEvents();
  const since = lines().filter(({ atMs }) => atMs >= fromMs);
  const changes = since.filter(({ kind }) => kind === 'wrote' || kind === 'deleted').length;
  const received = members.healthy.map(({ identity }) => {
    const counts = since.flatMap((line) =>
      line.kind === 'received' && line.member === identity ? [line.events] : [],
    );
    // A partition that a member hands over takes its count along.
    const steps = counts.map((count, index) => Math.max(0, count - (counts[index - 1] ?? count)));
    return steps.reduce((sum, step) => sum + step, 0);
  });
  // On a busy machine members also receive changes of the time before.
  const all = Math.max(
    changes,
    received.reduce((sum, events) => sum + events, 0),
  );
  const shares = received.map((events) => events / all);
  const isCounted = sent !== undefined && sentBefore !== undefined;
  return { shares, sentPerChange: isCounted ? (sent - sentBefore) / changes : undefined };
}

/** Waits until something is so, or too long: then the judge finds what is missing. */
async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const endMs = nowMs() + SETTLE_MAX_MS;
  while (!(await isSo()) && nowMs() < endMs) await setTimeout(LOOK_MS);
}

/** Returns lines of text about an outcome. */
export function reportOf(outcome: Outcome): string[] {
  const { lines, waitsMs, handOversMs, shares, sentPerChange = NaN } = outcome;
  const counts = (kind: Line['kind']): number => lines.filter((line) => line.kind === kind).length;
  const faults = lines.flatMap((line) => (line.kind === 'disturbed' ? [line.how] : []));
  const errors = lines.flatMap((line) => (line.kind === 'reports' ? [line.code] : []));
  return [
    `faults: ${countsOf(faults)}`,
    `changes: ${counts('wrote') + counts('deleted')}`,
    `works: ${counts('begins')}, of which stopped: ${counts('stops')}, in tenures: ${counts('owns')}`,
    `hand-overs: ${quantilesOf(handOversMs)}`,
    `waits: ${quantilesOf(waitsMs)}`,
    `shares of the changes: ${shares.map((share) => share.toFixed(2)).join(', ')}`,
    `events that the server sent for each change: ${sentPerChange.toFixed(2)}`,
    `reported: ${countsOf(errors)}`,
  ];
}

function countsOf(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return Array.from(counts, ([name, count]) => `${count} ${name}`).join(', ') || 'nothing';
}

/** @param ascending times in ms */
function quantilesOf(ascending: readonly number[]): string {
  const at = (part: number): string =>
    `${Math.round(ascending[Math.min(ascending.length - 1, Math.floor(part * ascending.length))] ?? 0)} ms`;
  return `${ascending.length}, 50 % ${at(0.5)}, 95 % ${at(0.95)}, 99 % ${at(0.99)}, most ${at(1)}`;
}
