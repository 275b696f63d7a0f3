/** The parts of the report of `kubeloom demo` that other reports share: conclusion, and tables. */
import { escapeControls } from '../../../base/printable.ts';
import { wrapped } from './cells.ts';
import { Table } from './table.ts';
import type { Verdict } from '../../loadtest/verdict/verdict.ts';
import { columnsOf, printJson, printText } from './output.ts';
import type { Colour } from './output.ts';

/** The verdict on a handler or informer. */
export interface Judged {
  readonly name: string;
  readonly verdict: Verdict;
}

export type Conclusion =
  | { readonly kind: 'PASS'; readonly reasons: readonly [] }
  | { readonly kind: 'FAIL'; readonly reasons: readonly string[] };

export const EXIT_CODES: Readonly<Record<Conclusion['kind'], number>> = { PASS: 0, FAIL: 1 };

/** Colours of verdicts; one that says nothing about the watchers is yellow. */
const COLOURS: Readonly<Record<string, Colour>> = { PASS: 'green', FAIL: 'red', THRESHOLD: 'red' };

interface Concluded {
  readonly kind: string;
  readonly reasons: readonly string[];
}

/**
 * @param passed the text of a PASS
 * @param columns of the terminal
 */
export function conclusionText(
  { kind, reasons }: Concluded,
  passed: string,
  columns: number = Infinity,
): string {
  const lines =
    kind === 'PASS'
      ? wrapped(`PASS: ${passed}`, columns, '  ')
      : [`${kind}:`, ...reasons.flatMap((reason) => wrapped(`  ${escapeControls(reason)}`, columns, '    '))];
  return lines.join('\n');
}

/** Prints the verdict in its colour. @param passed the text of a PASS */
export function printConclusion(
  conclusion: Concluded,
  passed: string,
  output: NodeJS.WriteStream = process.stdout,
): void {
  const text = conclusionText(conclusion, passed, columnsOf(output));
  printText(text, output, COLOURS[conclusion.kind] ?? 'yellow');
}

/**
 * Prints the result of a command: as text, or with `--json` the report as a JSON object on stdout, and a conclusion
 * other than PASS on stderr.
 *
 * @returns the exit code
 */
export function printResult(
  isJson: boolean,
  report: object,
  text: string,
  conclusion: Conclusion,
  passed: string,
): number {
  if (isJson) printJson(JSON.stringify(report));
  else printText(`\n${text}\n\n`);
  if (!isJson) printConclusion(conclusion, passed);
  else if (conclusion.kind !== 'PASS') printConclusion(conclusion, passed, process.stderr);
  return EXIT_CODES[conclusion.kind];
}

type Faults = Pick<Verdict, 'lost' | 'duplicated' | 'reordered'>;

export function sumOfFaults(judged: readonly Judged[]): Faults {
  const sum = (fault: keyof Faults): number =>
    judged.reduce((total, { verdict }) => total + verdict[fault], 0);
  return { lost: sum('lost'), duplicated: sum('duplicated'), reordered: sum('reordered') };
}

export function hasFaults({ lost, duplicated, reordered }: Faults): boolean {
  return lost + duplicated + reordered > 0;
}

/** Returns the number of each kind of fault, and the first findings. */
export function faultsText({ lost, duplicated, reordered, findings }: Verdict): string {
  const counts = `${number(lost)} lost, ${number(duplicated)} duplicated, ${number(reordered)} reordered`;
  return `${counts} (${findings.join('; ')})`;
}

/**
 * Returns a table of verdicts.
 *
 * @param what the header of the names
 * @param headers of the columns after the verdict
 * @param cells of these columns
 * @param columns of the terminal
 */
export function verdictLines<R extends Judged>(
  what: string,
  headers: readonly string[],
  results: readonly R[],
  cells: (result: R) => readonly string[],
  columns: number,
): string[] {
  const table = new Table([what, 'INITIAL', 'CHANGES', 'LOST', 'DUPLICATED', 'REORDERED', ...headers]);
  return table.lines(
    results.map((result) => {
      const { initial, delivered, lost, duplicated, reordered } = result.verdict;
      return [
        result.name,
        ...[initial, delivered, lost, duplicated, reordered].map(number),
        ...cells(result),
      ];
    }),
    columns,
  );
}

/** Returns a name and a value a line, the values in one column, and wrapped within it. */
export function factLines(
  facts: readonly (readonly [name: string, value: string])[],
  columns: number = Infinity,
): string[] {
  const width = Math.max(...facts.map(([name]) => name.length)) + 3;
  return facts.flatMap(([name, value]) =>
    wrapped(escapeControls(`${name.padEnd(width)}${value}`), columns, ' '.repeat(width)),
  );
}

/** 200,000 */
export function number(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}
