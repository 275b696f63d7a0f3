/**
 * The weight of the house: `weights.json` has a limit for each number, with a reason and its date. A change lowers a limit
 * freely; a higher limit needs a new reason, and the history of the file shows whether it has one.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { ERROR_GROUPS } from '../../src/base/error-codes/error-table.ts';
import { METRICS } from '../../src/metrics/metrics-table.ts';
import { ROOT, readClauses } from '../contract/clauses.ts';
import { edgesBetweenRooms, roomOf } from './rules.ts';
import type { SourceFile } from './source-file.ts';

export interface Weight {
  readonly limit: number;
  /** Day of the reason: `2026-11-28`. */
  readonly on: string;
  readonly because: string;
}
export type Weights = Readonly<Record<string, Weight>>;

const WHOLES = [
  ['src/tools/', 'the tools'],
  ['test/', 'the tests'],
  ['bench/', 'the benchmarks'],
] as const;
const FILE = 'test/tidy/weights.json';
/** Share of a limit that may be unused, so that a small deletion stays free. */
const UNUSED_MAX = 0.02;
/** Versions that are compared: each older version was compared while it was among the last. */
const VERSIONS_MAX = 50;
const WORDS_MIN = 4;

export function readWeights(): Weights {
  return JSON.parse(readFileSync(join(ROOT, FILE), 'utf8')) as Weights;
}

/**
 * Returns every number that has a limit. The lines of TypeScript files count as in `wc -l`; `index.ts` and `workers` count as
 * rooms.
 */
export function weigh(files: readonly SourceFile[]): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  const add = (name: string, number: number): void =>
    void weights.set(name, (weights.get(name) ?? 0) + number);
  const rooms = new Set<string>();
  for (const file of files) {
    const lines = file.text.split('\n').length - 1;
    const room = roomOf(file.path);
    const whole = WHOLES.find(([start]) => file.path.startsWith(start))?.[1] ?? 'the library';
    add(`lines of ${whole}`, lines);
    if (room === 'test' || room === 'bench') continue;
    rooms.add(room);
    add(`lines of ${room}`, lines);
    add('options', optionsIn(file));
  }
  const reports = readdirSync(join(ROOT, 'test/api')).filter((name) => name.endsWith('.api.md'));
  for (const report of reports)
    add(
      `names of ${report.replace('.api.md', '')}`,
      namesIn(readFileSync(join(ROOT, 'test/api', report), 'utf8')),
    );
  add('error codes', ERROR_GROUPS.flatMap(({ errors }) => Object.keys(errors)).length);
  add('metrics', Object.keys(METRICS).length);
  add('clauses', readClauses().length);
  add('rooms', rooms.size);
  add('arrows between rooms', edgesBetweenRooms(files).size);
  return weights;
}

/** Returns how many names a report exports; overloads count once. */
export function namesIn(report: string): number {
  const exported =
    /^(?:export (?:declare |abstract )*(?:class|const|enum|function|interface|type)|declare namespace) (\w+)/gm;
  return new Set(Array.from(report.matchAll(exported), ([, name]) => name)).size;
}

const TABLE =
  /: OptionChecks<[^;]*?> = \{|\bnested(?:<[^;(]*>)?\(\{|= \{(?=[^{}]*\} satisfies OptionChecks<)/g;

/** Returns how many options the tables of a file check: the members of each object of OptionChecks; a spread counts as no member. */
export function optionsIn({ code }: Pick<SourceFile, 'code'>): number {
  let options = 0;
  for (const { 0: start, index } of code.matchAll(TABLE)) options += membersFrom(code, index + start.length);
  return options;
}

/** Returns how many members an object literal has, from behind its brace; spreads do not count. */
function membersFrom(code: string, start: number): number {
  const members = [''];
  for (let at = start, depth = 0; depth >= 0 && at < code.length; at++) {
    const character = code[at] ?? '';
    if ('({['.includes(character)) depth++;
    if (')}]'.includes(character)) depth--;
    if (depth === 0 && character === ',') members.push('');
    else if (depth >= 0) members.push(`${members.pop() ?? ''}${character}`);
  }
  return members.map((member) => member.trim()).filter((member) => member !== '' && !member.startsWith('...'))
    .length;
}

/** Returns where the house and its limits differ: too heavy, too far below, without a limit, without a reason. */
export function weightFaults(limits: Weights, weights: ReadonlyMap<string, number>): string[] {
  const heavy = Array.from(weights, ([name, number]) => {
    const limit = limits[name]?.limit;
    if (limit === undefined) return `${name}: ${number}, without a limit: add a line to ${FILE}`;
    if (number > limit)
      return `${name}: ${number}, at most ${limit}: remove as much, or raise the limit and write the reason beside it`;
    return number < limit * (1 - UNUSED_MAX)
      ? `${name}: ${number} of ${limit}: lower the limit to ${number}`
      : '';
  });
  const lines = Object.entries(limits).map(([name, { because, on }]) => {
    if (!weights.has(name)) return `${name}: weighs nothing: delete its line`;
    const isReason = because.trim().split(/\s+/).length >= WORDS_MIN && /^\d{4}-\d\d-\d\d$/.test(on);
    return isReason
      ? ''
      : `${name}: a limit has a reason of ${WORDS_MIN} words or more, and a date such as 2026-11-28`;
  });
  return [...heavy, ...lines].filter((fault) => fault !== '');
}

/** Returns the limits of `after` that are higher than in `before`, for the same reason or with an earlier date. */
export function raisesWithoutReason(before: Weights, after: Weights): string[] {
  return Object.entries(after).flatMap(([name, { limit, because, on }]) => {
    const earlier = before[name];
    if (earlier === undefined || limit <= earlier.limit) return [];
    if (because !== earlier.because && on >= earlier.on) return [];
    return [
      `${name}: raised from ${earlier.limit} to ${limit}: write a new reason and its date beside the number`,
    ];
  });
}

/**
 * Returns the last versions of the limits, from the history of git that is present: a reason given for a number holds for no
 * higher number. A shallow clone has few versions, a folder outside of git none.
 */
export function earlierWeights(folder: string = ROOT): Weights[] {
  const git = (...command: string[]): string =>
    execFileSync('git', command, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    const log = git('log', '--format=%h', '--diff-filter=AM', `--max-count=${VERSIONS_MAX}`, '--', FILE);
    const commits = log.split('\n').filter((commit) => commit !== '');
    return commits.map((commit) => JSON.parse(git('show', `${commit}:./${FILE}`)) as Weights);
  } catch {
    return [];
  }
}
