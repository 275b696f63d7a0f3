/**
 * Run of the mutants. Each mutant is put into a copy of the compiled code, and the tests of the mutant's clause must
 * fail. The copies are temporary, dist stays unchanged, and two mutants run at a time.
 */
import { join } from 'node:path';
import { runTests } from './child-run.ts';
import { ROOT } from './clauses.ts';
import type { Clause } from './clauses.ts';
import { copyDist, withFault } from './fault.ts';
import { contractFiles, layerFiles, numbersIn } from './layers.ts';
import type { Mutant } from './mutant.ts';
import { MUTANTS } from './mutants.ts';
import type { TestLine } from './reporter.ts';

const PARALLEL = 2;
/** A test that hangs also kills a mutant. */
const TEST_TIMEOUT_MS = 8_000;
const RUN_TIMEOUT_MS = 30_000;
/** Without a mutant, all tests run at once, some with real threads, on a machine that may be slow. */
const HEALTHY_TEST_TIMEOUT_MS = 600_000;
const HEALTHY_RUN_TIMEOUT_MS = 1_200_000;
/** Folder from which this runs: `dist`, or another output folder of tsc. */
const DIST = join(import.meta.dirname, '../..');

export interface MutationOptions {
  /** Numbers of clauses; all when empty. */
  readonly wanted: readonly string[];
  /** Whether the tests have just passed without a mutant. */
  readonly isHealthy: boolean;
  /** Time after which no further mutant begins. */
  readonly lastsMs: number;
  /** The mutant that is first; those before it come last. */
  readonly first: number;
}

export async function killMutants(
  clauses: readonly Clause[],
  { wanted, isHealthy, lastsMs, first }: MutationOptions,
  print: (line: string) => void,
): Promise<number> {
  const endMs = performance.now() + lastsMs;
  const isWanted = (number: string): boolean => wanted.length === 0 || wanted.includes(number);
  const missing = clauses.filter(
    ({ number }) => isWanted(number) && !MUTANTS.some(({ clause }) => clause === number),
  );
  for (const { number } of missing) print(`${number} names no mutant`);
  const sick = isHealthy ? [] : await failuresWithout(clauses.filter(({ number }) => isWanted(number)));
  for (const { title, error } of sick) print(`FAILED without any mutant: ${title}: ${error}`);
  if (sick.length > 0) return 1;
  const rotated = [...MUTANTS.slice(first), ...MUTANTS.slice(0, first)];
  const queue = rotated.filter(({ clause }) => isWanted(clause));
  const next = (): Mutant | undefined => (performance.now() < endMs ? queue.shift() : undefined);
  let killed = 0;
  let survived = 0;
  const work = async (worker: number): Promise<void> => {
    const copy = copyDist(DIST, join(ROOT, '.cache/contract', `mutants-${worker}`));
    for (let mutant = next(); mutant; mutant = next()) {
      const verdict = await tryMutant(copy, mutant, clauses);
      if (verdict.startsWith('killed')) killed++;
      else survived++;
      print(`${mutant.clause.padEnd(4)} ${verdict}  ${mutant.file}: ${mutant.find} → ${mutant.replace}`);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, (_, worker) => work(worker)));
  if (queue.length > 0) print(`the time was over before ${queue.length} mutants`);
  print(`${killed} passed, ${survived + missing.length} failed`);
  return survived + missing.length > 0 ? 1 : 0;
}

/** Returns the tests that fail without a mutant, so that their failure proves no mutant. */
async function failuresWithout(clauses: readonly Clause[]): Promise<readonly TestLine[]> {
  const lines = await runTests({
    files: filesOf(DIST, clauses),
    configuration: 'twin',
    codec: 'json',
    pattern: patternOf(clauses.map(({ number }) => number)),
    testTimeoutMs: HEALTHY_TEST_TIMEOUT_MS,
    timeoutMs: HEALTHY_RUN_TIMEOUT_MS,
  });
  return lines.filter(({ isPassed }) => !isPassed);
}

/** Returns a pattern for titles that cite any of the clauses. (Later versions of Node prefix the suite's title.) */
function patternOf(numbers: readonly string[]): string {
  return `(^| )(C\\d+ )*(${numbers.join('|')}) `;
}

async function tryMutant(copy: string, mutant: Mutant, clauses: readonly Clause[]): Promise<string> {
  const files = filesOf(
    copy,
    clauses.filter(({ number }) => number === mutant.clause),
  );
  const lines = await withFault(copy, mutant, () =>
    runTests({
      files,
      configuration: mutant.configuration ?? 'twin',
      codec: 'json',
      pattern: patternOf([mutant.clause]),
      testTimeoutMs: TEST_TIMEOUT_MS,
      timeoutMs: RUN_TIMEOUT_MS,
    }),
  );
  if (typeof lines === 'string') return `SURVIVED (${lines})`;
  if (lines.length === 0)
    return files.length === 0 ? 'SURVIVED (no test)' : 'killed by the end of the process';
  return lines.some(({ isPassed }) => !isPassed) ? 'killed' : 'SURVIVED';
}

/** Returns the compiled test files that prove any of the clauses; the layers' files only for clauses of layers. */
function filesOf(dist: string, clauses: readonly Clause[]): string[] {
  const citing = (paths: readonly string[], isOfLayer: boolean): string[] => {
    const numbers = new Set(
      clauses.filter((clause) => clause.isOfLayer === isOfLayer).map(({ number }) => number),
    );
    return paths.filter((path) => numbersIn(path).some((number) => numbers.has(number)));
  };
  return [...citing(contractFiles(dist), false), ...citing(layerFiles(dist), true)];
}
