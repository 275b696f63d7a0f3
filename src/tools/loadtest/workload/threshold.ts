/**
 * Thresholds as a line of text:
 *
 *     answered→handler p99 < 500ms in steady
 *     sync max < 10s
 *     lost == 0
 *     apiserver_terminated_watchers_total == 0
 */
import { KubeloomError } from '../../../base/errors.ts';
import { durationMsOf } from './units.ts';
import type { CountName, LatencyStatistic, LatencyStep, Threshold, ThresholdSubject } from './workload.ts';

const STEPS: Readonly<Record<string, LatencyStep>> = {
  'due→sent': 'dueToSent',
  'sent→answered': 'sentToAnswered',
  'answered→handler': 'answeredToHandler',
};

const COUNTS: Readonly<Record<string, CountName>> = {
  lost: 'lost',
  duplicated: 'duplicated',
  reordered: 'reordered',
  relists: 'relists',
  'cut watches': 'cutWatches',
  refused: 'refused',
  unanswered: 'unanswered',
  'terminated watches': 'terminatedWatches',
};

const STATISTICS: readonly LatencyStatistic[] = ['p50', 'p90', 'p95', 'p99', 'p999', 'max', 'mean'];
const MEETS: Readonly<Record<Threshold['operator'], (figure: number, value: number) => boolean>> = {
  '<': (figure, value) => figure < value,
  '<=': (figure, value) => figure <= value,
  '==': (figure, value) => figure === value,
  '>=': (figure, value) => figure >= value,
  '>': (figure, value) => figure > value,
};

const OPERATORS = Object.keys(MEETS) as Threshold['operator'][];
const METRIC = /^[a-z][a-z0-9_]*_(?:total|count|sum)$/;
const OPERATOR = /[<>=]+/;
const STATISTIC = / (p\d+|max|mean)$/;
const VALUE = /^ ?([\d.]+)([a-z]*)(?: in (.+))?$/;

/** A message quotes the parts of a line. */
const LINE_CHARACTERS_MAX = 500;

const SUBJECTS = [...Object.keys(STEPS), 'sync', ...Object.keys(COUNTS)].join(', ');

/** @throws ERR_KUBELOOM_WORKLOAD with the wrong part and the allowed values */
export function parseThreshold(line: string): Threshold {
  if (line.length > LINE_CHARACTERS_MAX)
    throw wrong(`a threshold has at most ${LINE_CHARACTERS_MAX} characters`);
  const text = line.trim().replaceAll('->', '→').replaceAll(/\s+/g, ' ');
  const [operator = ''] = OPERATOR.exec(text) ?? [];
  const at = text.indexOf(operator);
  const left = text.slice(0, at).trimEnd();
  const [suffix = '', statistic] = STATISTIC.exec(left) ?? [];
  const what = left.slice(0, left.length - suffix.length);
  const [, value, unit = '', phase] = VALUE.exec(text.slice(at + operator.length)) ?? [];
  if (operator === '' || what === '' || value === undefined) {
    throw wrong('a threshold is a figure, an operator and a value: answered→handler p99 < 500ms');
  }
  if (!isOneOf(OPERATORS, operator)) throw wrong(`${operator} is no operator: use ${OPERATORS.join(' ')}`);
  const subject = subjectOf(what, statistic);
  const isTime = subject.type === 'latency' || subject.type === 'sync';
  if (phase !== undefined && subject.type !== 'latency') throw wrong(`${what} is measured for the whole run`);
  if (isTime === (unit === '')) {
    throw wrong(
      isTime ? `${what} needs a unit: ${value}ms or ${value}s` : `${what} is a number without a unit`,
    );
  }
  const limit = isTime ? durationMsOf(`${value}${unit}`) : Number(value);
  if (Number.isNaN(limit)) throw wrong(`${value}${unit} is no value: 500ms, 10s or 0 are`);
  return { text, subject, ...(phase === undefined ? {} : { phase }), operator, value: limit };
}

function subjectOf(what: string, statistic: string | undefined): ThresholdSubject {
  const step = Object.hasOwn(STEPS, what) ? STEPS[what] : undefined;
  if (step !== undefined) return { type: 'latency', step, statistic: statisticOf(what, statistic) };
  if (what === 'sync') return { type: 'sync', statistic: statisticOf(what, statistic) };
  if (statistic !== undefined) throw wrong(`${what} has no ${statistic}`);
  const count = Object.hasOwn(COUNTS, what) ? COUNTS[what] : undefined;
  if (count !== undefined) return { type: 'count', count };
  if (METRIC.test(what)) return { type: 'server', metric: what };
  throw wrong(`${what} is no figure: use ${SUBJECTS}, or a counter of the server`);
}

function statisticOf(what: string, statistic: string | undefined): LatencyStatistic {
  if (isOneOf(STATISTICS, statistic)) return statistic;
  throw wrong(`${what} needs one of ${STATISTICS.join(', ')}: ${what} p99 < 1s`);
}

/** Returns whether a figure meets the threshold. */
export function meets(figure: number, { operator, value }: Threshold): boolean {
  return MEETS[operator](figure, value);
}

function isOneOf<T extends string>(all: readonly T[], text: string | undefined): text is T {
  return all.includes(text as T);
}

function wrong(message: string): KubeloomError {
  return new KubeloomError('ERR_KUBELOOM_WORKLOAD', message);
}
