/** Verdict from the results of the runs. It is pure, so that it can be tested itself. */
import { citedBy } from './clauses.ts';
import type { Clause } from './clauses.ts';
import { EVIDENCE_TITLE } from './configuration-names.ts';
import type { RunName } from './configuration-names.ts';
import type { TestLine } from './reporter.ts';

/** The single run of the layers' own tests. */
export const LAYERS = 'layers' as const;
export type Part = RunName | typeof LAYERS;

/** Results by the part of the contract that was run. */
export type Results = ReadonlyMap<Part, readonly TestLine[]>;

export interface Verdict {
  /** The summary that `--json` prints. */
  readonly summary: {
    readonly clauses: number;
    readonly untested: readonly string[];
    /** The configurations that the threads' statistics show. */
    readonly configurations: readonly RunName[];
    readonly passed: number;
    readonly failed: number;
  };
  readonly isGreen: boolean;
  /** All complaints, a line each. */
  readonly complaints: readonly string[];
}

/**
 * Judges the parts that were run; it does not judge the others.
 *
 * @param files number of test files in every configuration; each must show that the configuration was used
 */
export function judge(clauses: readonly Clause[], results: Results, files: number): Verdict {
  const numbers = clauses.map(({ number }) => number);
  const lines = [...results.values()].flat();
  const untested = new Set<string>();
  const shown: RunName[] = [];
  const complaints: string[] = [];
  for (const [part, own] of results) {
    for (const { title, isPassed, error } of own)
      if (!isPassed) complaints.push(`FAILED ${part}: ${title}: ${error}`);
    const cited = new Set(own.flatMap(({ title }) => citedBy(title)));
    for (const { number, isOfLayer } of clauses)
      if (isOfLayer === (part === LAYERS) && !cited.has(number)) untested.add(number);
    if (part === LAYERS) continue;
    const evidence = own.filter(({ title, isPassed }) => isPassed && title.startsWith(EVIDENCE_TITLE));
    if (evidence.length === files) shown.push(part);
    else complaints.push(`not shown by thread statistics: ${part}`);
  }
  const unknown = lines.flatMap(({ title }) => citedBy(title)).filter((number) => !numbers.includes(number));
  for (const number of new Set(unknown))
    complaints.push(`a test cites ${number}, which is not in docs/contract.md`);
  for (const number of untested) complaints.push(`${number} has no test where it must have one`);
  const failed = lines.filter(({ isPassed }) => !isPassed).length;
  const passed = lines.length - failed;
  return {
    summary: { clauses: clauses.length, untested: [...untested], configurations: shown, passed, failed },
    isGreen: complaints.length === 0 && passed > 0,
    complaints,
  };
}

/** Returns the table of clauses by the parts that were run: passed tests, or passed of all. */
export function table(clauses: readonly Clause[], results: Results): string {
  const titleWidth = Math.max(...clauses.map(({ title }) => title.length));
  const parts = [...results.keys()];
  const row = (number: string, title: string, cells: readonly string[]): string => {
    const padded = cells.map((text, at) => text.padEnd(parts[at]?.length ?? 0));
    return `${number.padEnd(4)} ${title.padEnd(titleWidth)}  ${padded.join('  ')}`.trimEnd();
  };
  const rows = clauses.map(({ number, title }) =>
    row(
      number,
      title,
      Array.from(results.values(), (own) => cell(own, number)),
    ),
  );
  return [row('', 'tests passed', parts), ...rows].join('\n');
}

/** Returns a cell; a dash if the clause needs no test there, such as a layer's clause in a configuration. */
function cell(own: readonly TestLine[], number: string): string {
  const cited = own.filter(({ title }) => citedBy(title).includes(number));
  const passed = cited.filter(({ isPassed }) => isPassed).length;
  if (cited.length === 0) return '-';
  return passed === cited.length ? String(passed) : `${passed}/${cited.length}`;
}
