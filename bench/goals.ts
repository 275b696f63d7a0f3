/** Judges rows against the goals of their cases. */
import type { BenchCase, Goal } from './case.ts';
import { SAME_NODE, isMoreBetter } from './names.ts';
import type { ClientName } from './names.ts';
import { FIGURE, ratioToBest } from './row.ts';
import type { Row } from './row.ts';
import { alignedText, numberText, sizeText } from './table-text.ts';

export type Verdict = 'met' | 'missed' | 'not measured';

export interface Judgement {
  readonly row: string;
  readonly goal: string;
  readonly figure: string;
  readonly verdict: Verdict;
}

/** A figure that a goal is judged on; null when it was not measured. */
interface Reading {
  readonly value: number | null;
  readonly text: string;
}

/** Returns a judgement for each goal, in the order of the cases. */
export function judge(cases: readonly BenchCase[], rows: readonly Row[]): Judgement[] {
  return cases.flatMap((benchCase) =>
    (benchCase.goals ?? []).map((goal) => {
      const readings = readingsOf(benchCase, goal, rows);
      return {
        row: rowText(benchCase, goal),
        goal: goalText(goal),
        figure: readings.map(({ text }) => text).join('; '),
        verdict: verdictOf(goal, readings),
      };
    }),
  );
}

export function judgementsText(judgements: readonly Judgement[]): string {
  const cells = judgements.map(({ verdict, row, goal, figure }) => [
    verdict.toUpperCase(),
    row,
    goal,
    figure,
  ]);
  const count = (wanted: Verdict): number => judgements.filter(({ verdict }) => verdict === wanted).length;
  const sums = `${count('met')} met, ${count('missed')} missed, ${count('not measured')} not measured`;
  return [...alignedText([['', 'ROW', 'GOAL', 'FIGURE'], ...cells]), sums].join('\n');
}

/** Every reading counts: a ratio is judged on each Node. */
function verdictOf({ relation, value: wanted }: Goal, readings: readonly Reading[]): Verdict {
  const isMet = (value: number): boolean => (relation === 'at least' ? value >= wanted : value <= wanted);
  const values = readings.map(({ value }) => value);
  if (values.some((value) => value !== null && !isMet(value))) return 'missed';
  return values.length === 0 || values.includes(null) ? 'not measured' : 'met';
}

function readingsOf(benchCase: BenchCase, goal: Goal, rows: readonly Row[]): Reading[] {
  const own = rowOf(benchCase, goal, 'kubeloom', rows);
  const { to } = goal;
  if (to === undefined) return [reading(own?.value, `${numberText(own?.value ?? null)} ${goal.unit}`)];
  if (to === 'javascript') return javascriptReadings(benchCase, goal, rows);
  if (typeof to === 'object') {
    const other = rowOf({ ...benchCase, name: to.caseName }, goal, 'kubeloom', rows);
    return [ratioReading(ratioOf(own, other, goal), to.caseName)];
  }
  return [ratioReading(own?.ratios[to], peerText(benchCase, goal, to, rows))];
}

/** A reading for each Node on which the case compares kubeloom with another client. */
function javascriptReadings(benchCase: BenchCase, goal: Goal, rows: readonly Row[]): Reading[] {
  const { clients } = benchCase;
  return (Object.entries(SAME_NODE) as [ClientName, readonly ClientName[]][]).flatMap(([client, all]) => {
    const peers = all.filter((peer) => clients[peer] !== undefined);
    if (clients[client] === undefined || peers.length === 0) return [];
    const own = rowOf(benchCase, goal, client, rows);
    const best = own && ratioToBest(own);
    if (best === undefined) return [ratioReading(undefined, peers.join(' or '))];
    return [ratioReading(best.ratio, peerText(benchCase, goal, best.peer, rows))];
  });
}

function reading(value: number | null | undefined, text: string): Reading {
  return value === null || value === undefined ? { value: null, text: 'no figure' } : { value, text };
}

function ratioReading(ratio: number | undefined, peer: string): Reading {
  if (ratio === undefined) return { value: null, text: `no ratio to ${peer}` };
  return reading(ratio, `${numberText(ratio)}x ${peer}`);
}

/** Above 1: `own` is better than the other case. */
function ratioOf(own: Row | undefined, other: Row | undefined, { unit }: Goal): number | undefined {
  const [value, compared] = [own?.value ?? null, other?.value ?? null];
  if (value === null || compared === null) return undefined;
  return isMoreBetter(unit) ? value / compared : compared / value;
}

function rowOf(
  { suite, name, task, source }: BenchCase,
  { unit, figure }: Goal,
  client: ClientName,
  rows: readonly Row[],
): Row | undefined {
  const wanted = figure === '' ? name : `${name}${FIGURE}${figure}`;
  return rows.find(
    (row) =>
      row.suite === suite &&
      row.client === client &&
      row.case === wanted &&
      row.unit === unit &&
      row.handler === task.handler &&
      row.objectBytes === source.objectBytes,
  );
}

/** The peer with its version and runtime. */
function peerText(benchCase: BenchCase, goal: Goal, peer: ClientName, rows: readonly Row[]): string {
  const version = rowOf(benchCase, goal, peer, rows)?.version ?? '';
  return version === '' ? peer : `${peer} ${version}`;
}

function rowText({ suite, name, source, task }: BenchCase, { figure, unit }: Goal): string {
  const words = [`${suite}: ${name}`, sizeText(source.objectBytes), task.handler];
  return `${words.join(', ')}${FIGURE}${figure === '' ? unit : figure}`;
}

const TO_BEST = 'the best JavaScript client on the same Node';

function goalText({ relation, value, unit, to }: Goal): string {
  if (to === undefined) return `${relation} ${value.toLocaleString('en-US')} ${unit}`;
  const peer = to === 'javascript' ? TO_BEST : typeof to === 'object' ? to.caseName : to;
  return `${relation} ${value}x ${peer}`;
}
