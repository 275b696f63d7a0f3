/** The section of docs/reliability.md about a differential run: results as markdown. */
import { FAULT_CASES } from './cases.ts';
import { isEqual } from './judge.ts';
import type { Difference, Judgement } from './judge.ts';
import { machineText } from '../document.ts';
import type { Machine } from '../document.ts';
import type { CaseRun } from './run-case.ts';

export interface DifferentialResults {
  readonly machine: Machine;
  /** The version of each client that ran; "not measured: …" for one that could not. */
  readonly versions: Readonly<Record<string, string>>;
  readonly seeds: readonly number[];
  /** The intended rate of changes, and the time that a client has to recover. */
  readonly loadRate: number;
  readonly recoveryMsMax: number;
  readonly startedAt: string;
  readonly elapsedMs: number;
  readonly runs: readonly CaseRun[];
}

export function differentialSection(results: DifferentialResults): string {
  const clients = Object.keys(results.versions);
  return [
    ...described(results),
    '',
    ...recoveryTable(results, clients),
    '',
    'What was wrong with the notifications themselves, over all runs:',
    '',
    ...notificationTable(results, clients),
    '',
  ].join('\n');
}

/** True when store and handler equal the server, and the informer still runs. */
export function hasRecovered({ judgement, isStopped }: CaseRun): boolean {
  return judgement !== undefined && isStopped !== true && wrongPart(judgement) === undefined;
}

/** One line of the run's progress. */
export function verdictOf(run: CaseRun): string {
  if (run.invalid !== undefined) return `INVALID: ${run.invalid}`;
  if (run.judgement === undefined) return 'INVALID: not judged';
  if (hasRecovered(run)) return `recovered in ${seconds([run.judgement.recoveryMs ?? 0])}`;
  const difference = wrongPart(run.judgement);
  const state = difference === undefined ? 'nothing lost so far' : counted(difference);
  return `${run.isStopped ? 'stopped' : 'differs'}: ${state}`;
}

function described(results: DifferentialResults): string[] {
  const { machine, versions, seeds, loadRate, recoveryMsMax, runs } = results;
  const valid = runs.filter(({ invalid }) => invalid === undefined).length;
  const clients = Object.entries(versions).map(([client, version]) => `${client} ${version}`);
  return [
    `${clients.join(', ')}. Each case ${plural(seeds.length, 'time')} for each client (seeds ${seeds.join(', ')}), ` +
      `${valid} valid runs of ${runs.length}, ${loadRate} changes/s of load throughout, at most ` +
      `${recoveryMsMax / 1000} s to recover. ${machineText(machine)}.`,
  ];
}

function recoveryTable({ runs }: DifferentialResults, clients: readonly string[]): string[] {
  const names = new Set(runs.map((run) => run.case));
  const rows = FAULT_CASES.filter(({ name }) => names.has(name)).map(({ name, title }) => {
    const cells = clients.map((client) =>
      cell(runs.filter((run) => run.case === name && run.client === client)),
    );
    return row([title, ...cells]);
  });
  return [row(['Fault', ...clients]), ruler(clients.length + 1), ...rows];
}

function cell(runs: readonly CaseRun[]): string {
  const valid = runs.filter(({ invalid }) => invalid === undefined);
  if (valid.length === 0) return runs.length === 0 ? 'not measured' : 'INVALID';
  const recovered = valid.filter(hasRecovered);
  const times = recovered.map(({ judgement }) => judgement?.recoveryMs ?? 0);
  if (recovered.length === valid.length) return seconds(times);
  const worst = valid.filter((run) => !hasRecovered(run)).toSorted((one, other) => lost(other) - lost(one));
  const share = recovered.length > 0 ? `${recovered.length} of ${valid.length} in ${seconds(times)}; ` : '';
  return `${share}**${worst[0] === undefined ? '' : verdictOf(worst[0])}**`;
}

function notificationTable({ runs }: DifferentialResults, clients: readonly string[]): string[] {
  const columns = ['repeated', 'out of order', 'illogical', 'new uid unseen', 'skipped', 'errors'];
  const rows = clients.map((client) => {
    const judged = runs.flatMap((run) => (run.client === client && run.judgement ? [run.judgement] : []));
    const sum = (of: (judgement: Judgement) => number): string =>
      String(judged.reduce((total, judgement) => total + of(judgement), 0));
    return row([
      client,
      sum(({ notifications }) => notifications.repeated),
      sum(({ notifications }) => notifications.reordered),
      sum(({ notifications }) => notifications.illogical),
      sum(({ notifications }) => notifications.uidChanges),
      sum(({ skipped }) => skipped),
      sum(({ errors }) => errors),
    ]);
  });
  return [row(['Client', ...columns]), ruler(columns.length + 1), ...rows];
}

function wrongPart({ store, handler }: Judgement): Difference | undefined {
  return [store, handler].find((difference) => !isEqual(difference));
}

function lost({ judgement }: CaseRun): number {
  const { missing = 0, ghosts = 0, stale = 0 } = (judgement && wrongPart(judgement)) ?? {};
  return missing + ghosts + stale;
}

function counted({ missing, ghosts, stale }: Difference): string {
  const parts = [
    missing > 0 ? `${missing} missing` : '',
    ghosts > 0 ? plural(ghosts, 'ghost') : '',
    stale > 0 ? `${stale} stale` : '',
  ];
  return parts.filter((part) => part !== '').join(', ');
}

/** The median, and the range when there are several. */
function seconds(times: readonly number[]): string {
  const sorted = times.toSorted((one, other) => one - other).map(secondsText);
  const median = sorted[Math.floor((sorted.length - 1) / 2)] ?? '';
  const [first, last] = [sorted[0], sorted.at(-1)];
  return first === last ? `${median} s` : `${median} s (${first} to ${last})`;
}

function secondsText(ms: number): string {
  const digits = ms < 995 ? 2 : 1;
  return (ms / 1000).toFixed(digits);
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function ruler(columns: number): string {
  return row(Array.from({ length: columns }, () => '---'));
}
