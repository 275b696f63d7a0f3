/**
 * A result as JUnit XML, which CI systems show: a suite for the run, with a case for the load, a case for delivery to
 * each group of watchers, and a case for each threshold. A case fails exactly when the run is not a PASS.
 */
import { escapeControls } from '../../../base/printable.ts';
import type { LoadTestResult, ThresholdResult } from '../result.ts';
import { saturationsOf } from '../run/conclude.ts';
import { escapeMarkup } from './html.ts';
import { figureText } from './verdict-section.ts';
import { faultsOf, watcherGroups } from './watcher-groups.ts';
import type { WatcherGroupSums } from './watcher-groups.ts';

interface Case {
  readonly className: string;
  readonly name: string;
  /** `error`: the case is not a proof. */
  readonly problem?: { readonly element: 'failure' | 'error'; readonly lines: readonly string[] };
}

export function junitText(result: LoadTestResult): string {
  const { run } = result;
  const cases = [
    loadCase(result),
    ...watcherGroups(result).map(deliveryCase),
    ...result.thresholds.map(thresholdCase),
  ];
  const count = (element: string): number =>
    cases.filter(({ problem }) => problem?.element === element).length;
  const counts = { tests: cases.length, failures: count('failure'), errors: count('error'), skipped: 0 };
  const time = (run.durationMs / 1000).toFixed(3);
  const suite = { name: `kubeloom loadtest ${run.workload.name}`, ...counts, time, timestamp: run.startedAt };
  const properties = Object.entries({
    seed: run.workload.seed,
    context: run.target.context,
    kubeloom: run.versions.kubeloom,
    node: run.versions.node,
    server: run.versions.server,
    conclusion: result.conclusion.kind,
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${attributes({ name: 'kubeloom loadtest', ...counts, time })}>`,
    `  <testsuite${attributes(suite)}>`,
    '    <properties>',
    ...properties.map(([name, value]) => `      <property${attributes({ name, value })}/>`),
    '    </properties>',
    ...cases.map(caseText),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

/** Returns the case that says whether the load was as requested: without it, the other cases are not proofs. */
function loadCase(result: LoadTestResult): Case {
  const { kind, reasons } = result.conclusion;
  const named = { className: 'load', name: 'no part was saturated, and every write was answered' };
  if (kind === 'INVALID' || kind === 'INTERRUPTED')
    return { ...named, problem: { element: 'error', lines: [`${kind}:`, ...reasons] } };
  const saturations = kind === 'PASS' ? [] : saturationsOf(result);
  return saturations.length === 0 ? named : { ...named, problem: { element: 'error', lines: saturations } };
}

function deliveryCase(group: WatcherGroupSums): Case {
  const { name, watchers, lost, duplicated, reordered, unequal } = group;
  const named = {
    className: 'delivery',
    name: `${name}: every change once and in order, caches equal a LIST`,
  };
  if (faultsOf(group) === 0) return named;
  const counts = `${lost} lost, ${duplicated} duplicated, ${reordered} reordered, ${unequal} caches unlike the server`;
  const findings = watchers.flatMap(({ name: watcher, verdict }) =>
    verdict.findings.map((finding) => `${watcher}: ${finding}`),
  );
  return { ...named, problem: { element: 'failure', lines: [counts, ...findings] } };
}

function thresholdCase(result: ThresholdResult): Case {
  const { threshold, figure, isMet } = result;
  const named = { className: 'threshold', name: threshold.text };
  if (isMet) return named;
  const measured = figure === null ? 'there was nothing to measure' : `it was ${figureText(result)}`;
  return { ...named, problem: { element: 'failure', lines: [measured] } };
}

function caseText({ className, name, problem }: Case): string {
  const element = `    <testcase${attributes({ classname: className, name })}`;
  if (!problem) return `${element}/>`;
  const [message = ''] = problem.lines;
  const lines = problem.lines.map(escaped).join('\n');
  return `${element}>\n      <${problem.element}${attributes({ message })}>${lines}</${problem.element}>\n    </testcase>`;
}

function attributes(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${escaped(String(value))}"`)
    .join('');
}

/** XML does not allow control characters, halves of surrogate pairs, U+FFFE and U+FFFF. */
function escaped(text: string): string {
  return escapeMarkup(escapeControls(text).replaceAll(/[\p{Surrogate}\ufffe\uffff]/gu, '\ufffd'));
}
