/** The arguments of `npm run bench --`, checked. A wrong argument is a coded error that lists the valid values. */
import { KubeloomError } from '../src/base/errors.ts';
import type { Level } from './case.ts';
import { CLIENTS, SUITES } from './names.ts';
import type { ClientName, SuiteName } from './names.ts';

export interface Flags {
  readonly quick?: boolean;
  readonly all?: boolean;
  readonly smoke?: boolean;
  /** A file, or true for standard output. */
  readonly json?: string | true;
  readonly compare?: boolean;
  readonly client?: readonly string[];
  readonly case?: string;
  readonly rounds?: number;
  readonly writeBaseline?: boolean;
  /** A file of results that takes the place of a run. */
  readonly from?: string;
  readonly report?: readonly string[];
  /** A file of results: with suites, they run and the file is written; without, it is read. */
  readonly goals?: string;
}

export interface RunOptions {
  readonly suites: readonly SuiteName[];
  readonly level: Level;
  /** Undefined for all. */
  readonly clients: readonly ClientName[] | undefined;
  /** Only cases whose name contains it. */
  readonly caseText: string;
  readonly rounds: number | undefined;
}

const ROUNDS_MAX = 100;
/** The clients of a quick run without `--client`: those that ratios compare. */
const QUICK_CLIENTS: readonly ClientName[] = ['kubeloom', 'limit', 'client-node'];

export function parseRunOptions(suites: readonly string[], flags: Flags): RunOptions {
  const levels = (['quick', 'all', 'smoke'] as const).filter((level) => flags[level]);
  if (levels.length > 1) refuse(`--${levels.join(' and --')} exclude each other: give one of them`);
  for (const name of ['json', 'goals'] as const) {
    const file = flags[name];
    if (typeof file !== 'string' || !isOneOf(file, SUITES)) continue;
    refuse(`--${name} takes a file, and ${file} is a suite: name the suites first, or write ./${file}`);
  }
  if (flags.goals !== undefined) checkGoals(suites, flags);
  return {
    suites: suites.length === 0 ? SUITES : suites.map((name) => checkOneOf(name, SUITES, 'suite')),
    level: levels[0] ?? 'standard',
    clients:
      flags.client?.map((name) => checkOneOf(name, CLIENTS, 'client')) ??
      (flags.quick ? QUICK_CLIENTS : undefined),
    caseText: flags.case ?? '',
    rounds: flags.rounds,
  };
}

/**
 * Goals are judged on figures of full size. Without suites there is no run, so options that select a part of a run are
 * refused.
 */
function checkGoals(suites: readonly string[], flags: Flags): void {
  const own = (['json', 'from', 'smoke'] as const).find((name) => flags[name] !== undefined);
  if (own !== undefined) refuse(`--goals and --${own} exclude each other: --goals has a file of its own`);
  const part = (['quick', 'all', 'client', 'case', 'rounds'] as const).find(
    (name) => flags[name] !== undefined,
  );
  if (suites.length > 0 || part === undefined) return;
  refuse(`--goals without suites only reads its file: name the suites to run, or leave --${part} out`);
}

export function parseRounds(text: string): number {
  const rounds = Number(text);
  if (!/^\d+$/.test(text) || rounds < 1 || rounds > ROUNDS_MAX) {
    refuse(`--rounds must be an integer from 1 to ${ROUNDS_MAX}, got ${text}`);
  }
  return rounds;
}

/** Collects names from `a,b` and from repeated options. */
export function collectClients(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...text.split(',')];
}

function isOneOf<T extends string>(name: string, names: readonly T[]): name is T {
  return (names as readonly string[]).includes(name);
}

function checkOneOf<T extends string>(name: string, names: readonly T[], what: string): T {
  if (isOneOf(name, names)) return name;
  return refuse(`there is no ${what} ${JSON.stringify(name)}: it is one of ${names.join(', ')}`);
}

function refuse(message: string): never {
  throw new KubeloomError('ERR_KUBELOOM_USAGE', message);
}
