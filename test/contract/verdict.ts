/** Verdict from the results of the runs. It is pure, so that it can be tested itself. */
import { citedBy } from './clauses.ts';
import type { Clause } from './clauses.ts';
import { EVIDENCE_TITLE, THREADS_OF } from './configuration-names.ts';
import type { ConfigurationName } from './configuration-names.ts';
import type { TestLine } from './reporter.ts';

export const CODECS = ['json', 'msgpack'] as const;
export const CONFIGURATIONS: readonly ConfigurationName[] = Object.keys(THREADS_OF) as ConfigurationName[];

/** The single run of the layers' own tests. */
export const ONCE = 'once' as const;

export interface Result extends TestLine {
  readonly configuration: ConfigurationName | typeof ONCE;
  readonly codec: string;
}

export interface Verdict {
  /** The summary that `--json` prints. */
  readonly summary: {
    readonly clauses: number;
    readonly untested: readonly string[];
    readonly configurations: readonly ConfigurationName[];
    readonly passed: number;
    readonly failed: number;
  };
  readonly isGreen: boolean;
  /** All complaints, a line each. */
  readonly complaints: readonly string[];
}

/**
 * Judges the results.
 *
 * @param files number of test files in every run; each must show that the configuration was used
 */
export function judge(clauses: readonly Clause[], results: readonly Result[], files: number): Verdict {
  const runs = CONFIGURATIONS.flatMap((configuration) =>
    CODECS.map((codec) =>
      results.filter((result) => result.configuration === configuration && result.codec === codec),
    ),
  );
  const citations = runs.map(citationsOf);
  const once = citationsOf(results.filter(({ configuration }) => configuration === ONCE));
  const numbers = clauses.map(({ number }) => number);
  const isTested = ({ number, isOfLayer }: Clause): boolean =>
    isOfLayer ? once.has(number) : citations.every((cited) => cited.has(number));
  const untested = clauses.filter((clause) => !isTested(clause)).map(({ number }) => number);
  const unknown = new Set(
    [...citations, once].flatMap((cited) => [...cited].filter((number) => !numbers.includes(number))),
  );
  const shown = CONFIGURATIONS.filter((configuration) =>
    CODECS.every((codec) => {
      const isEvidence = (result: Result): boolean =>
        result.configuration === configuration &&
        result.codec === codec &&
        result.isPassed &&
        result.title.startsWith(EVIDENCE_TITLE);
      return results.filter(isEvidence).length === files;
    }),
  );
  const failures = results.filter(({ isPassed }) => !isPassed);
  const complaints = [
    ...failures.map(
      ({ configuration, codec, title, error }) => `FAILED ${configuration} ${codec}: ${title}: ${error}`,
    ),
    ...Array.from(unknown, (number) => `a test cites ${number}, which is not in docs/contract.md`),
    ...untested.map((number) => `${number} has no test where it must have one`),
    ...CONFIGURATIONS.filter((name) => !shown.includes(name)).map(
      (name) => `not shown by thread statistics: ${name}`,
    ),
  ];
  const failed = failures.length;
  const passed = results.length - failed;
  return {
    summary: { clauses: clauses.length, untested, configurations: shown, passed, failed },
    isGreen: complaints.length === 0 && passed > 0,
    complaints,
  };
}

function citationsOf(results: readonly Result[]): Set<string> {
  return new Set(results.flatMap(({ title }) => citedBy(title)));
}

/** Returns the table of clauses by configuration and for the layers: passed tests with each codec, or passed of all. */
export function table(clauses: readonly Clause[], results: readonly Result[]): string {
  const titleWidth = Math.max(...clauses.map(({ title }) => title.length));
  const row = (number: string, title: string, cells: readonly string[]): string =>
    `${number.padEnd(4)} ${title.padEnd(titleWidth)}  ${cells.map((text) => text.padEnd(10)).join(' ')}`.trimEnd();
  const rows = clauses.map(({ number, title }) => {
    const cells = CONFIGURATIONS.map((configuration) =>
      CODECS.map((codec) => cell(results, number, configuration, codec)).join(' + '),
    );
    return row(number, title, [...cells, cell(results, number, ONCE, 'json')]);
  });
  return [row('', 'tests passed, json + msgpack', [...CONFIGURATIONS, ONCE]), ...rows].join('\n');
}

/** Returns a cell; a dash if the clause needs no test there, such as a layer's clause in a configuration. */
function cell(
  results: readonly Result[],
  number: string,
  where: Result['configuration'],
  codec: string,
): string {
  const own = results.filter((result) => result.configuration === where && result.codec === codec);
  const cited = own.filter(({ title }) => citedBy(title).includes(number));
  const passed = cited.filter(({ isPassed }) => isPassed).length;
  if (cited.length === 0) return '-';
  return passed === cited.length ? String(passed) : `${passed}/${cited.length}`;
}
