/** The reports of `kubeloom loadtest`: a result as files, and the comparison of two results. */
import { accessSync, constants } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { KubeloomError, messageOf } from '../../../base/errors.ts';
import { escapeControls } from '../../../base/printable.ts';
import { comparePage } from '../../loadtest/report/compare-page.ts';
import { differenceText, outcomeText, percentText } from '../../loadtest/report/compare-text.ts';
import { compareResults } from '../../loadtest/report/compare.ts';
import type { Comparison } from '../../loadtest/report/compare.ts';
import { junitText } from '../../loadtest/report/junit.ts';
import { readResult } from '../../loadtest/report/read-result.ts';
import { reportPage } from '../../loadtest/report/report-page.ts';
import { valueText } from '../../loadtest/report/value-text.ts';
import type { LoadTestResult } from '../../loadtest/result.ts';
import { EXIT_CODES } from '../../loadtest/run/conclude.ts';
import { isPreset } from '../../loadtest/workload/presets.ts';
import { PASSED, resultText } from './loadtest-text.ts';
import { factLines, printConclusion } from '../terminal/report.ts';
import { Table } from '../terminal/table.ts';
import { columnsOf, printJson, printText } from '../terminal/output.ts';

export interface ReportFlags {
  /** True: on stdout. */
  readonly json?: boolean | string;
  readonly junit?: string;
  readonly html?: string;
}

export const REPORT_FLAGS: readonly (keyof ReportFlags)[] = ['json', 'junit', 'html'];

/**
 * Checks before a long run that the reports can be written after it.
 *
 * @throws ERR_KUBELOOM_USAGE for `--json WORKLOAD`, which would write over the workload, and for folders that refuse
 *   files
 */
export function checkReportFlags(flags: ReportFlags): void {
  const { json } = flags;
  if (typeof json === 'string' && (isPreset(json) || /\.ya?ml$/.test(json))) {
    const message = `--json ${json} names the file of the result: the workload comes before --json`;
    throw new KubeloomError('ERR_KUBELOOM_USAGE', message);
  }
  for (const file of [json, flags.junit, flags.html]) {
    if (typeof file !== 'string') continue;
    try {
      accessSync(path.dirname(path.resolve(file)), constants.W_OK);
    } catch (cause) {
      const message = `${file} cannot be written: ${messageOf(cause)}`;
      throw new KubeloomError('ERR_KUBELOOM_USAGE', message, { cause });
    }
  }
}

/** Writes the files that the flags name. */
export async function writeReports(result: LoadTestResult, flags: ReportFlags): Promise<void> {
  const { json, junit, html } = flags;
  if (typeof json === 'string') await writeFile(json, `${JSON.stringify(result)}\n`);
  if (junit !== undefined) await writeFile(junit, junitText(result));
  if (html !== undefined) await writeFile(html, reportPage(result));
}

/** Prints a result and writes the files. @returns the exit code */
export async function printResult(result: LoadTestResult, flags: ReportFlags): Promise<number> {
  await writeReports(result, flags);
  const { conclusion } = result;
  const isJson = flags.json === true;
  if (isJson) printJson(JSON.stringify(result));
  else printText(`\n${resultText(result, columnsOf(process.stdout))}\n\n`);
  if (!isJson) printConclusion(conclusion, PASSED);
  else if (conclusion.kind !== 'PASS') printConclusion(conclusion, PASSED, process.stderr);
  return EXIT_CODES[result.conclusion.kind];
}

/** Prints the comparison of two results, and writes it as a page if the flags name a page. */
export async function compareFiles(files: readonly string[], { html }: ReportFlags): Promise<void> {
  const [before, after, ...more] = files;
  if (before === undefined || after === undefined || more.length > 0) {
    const message = `--compare takes two results of --json, got ${files.length}: --compare A.json B.json`;
    throw new KubeloomError('ERR_KUBELOOM_USAGE', message);
  }
  const comparison = compareResults([before, after], [readResult(before), readResult(after)]);
  if (html !== undefined) await writeFile(html, comparePage(comparison));
  printText(comparisonText(comparison, columnsOf(process.stdout)));
}

/** @param columns of the terminal */
export function comparisonText(comparison: Comparison, columns: number = Infinity): string {
  const { names, results, warnings, facts, figures, thresholds } = comparison;
  const [before, after] = results.map(({ conclusion }) => conclusion);
  const verdicts: [string, string][] = [
    ['A', `${before?.kind}  ${names[0]}`],
    ['B', `${after?.kind}  ${names[1]}`],
  ];
  const reasons = results.flatMap(({ conclusion }, index) =>
    conclusion.reasons.map((reason) => escapeControls(`  ${index === 0 ? 'A' : 'B'}: ${reason}`)),
  );
  const factTable = new Table(['DIFFERS', 'A', 'B']);
  const figureTable = new Table(['FIGURE', 'A', 'B', 'DIFFERENCE', '', '']);
  const thresholdTable = new Table(['THRESHOLD', 'A', 'B']);
  const sections = [
    [...factLines(verdicts, columns), ...reasons],
    warnings.map((warning) => escapeControls(`warning: ${warning}`)),
    factTable.lines(facts.map(({ name, before: a, after: b }) => [name, a, b])),
    figureTable.lines(
      figures.map((each) => [
        `${each.section}: ${each.name}`,
        valueText(each.before, each.unit),
        valueText(each.after, each.unit),
        differenceText(each),
        percentText(each),
        each.change === 'none' ? '' : each.change,
      ]),
    ),
    thresholdTable.lines(
      thresholds.map(({ text, before: a, after: b }) => [text, outcomeText(a), outcomeText(b)]),
    ),
  ];
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}
