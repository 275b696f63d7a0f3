/**
 * Kills the mutants: each is put into a copy of the compiled code, and the tests of its clause must fail
 * then. The copies are scratch; dist itself is never touched, and two mutants are tried at a time.
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
/** A mutant that hangs is as dead as one that fails. */
const TEST_TIMEOUT_MS = 8_000;
const RUN_TIMEOUT_MS = 30_000;
/** Without any mutant all of them run in one go, some with real threads, on a machine that may be slow. */
const HEALTHY_TEST_TIMEOUT_MS = 120_000;
const HEALTHY_RUN_TIMEOUT_MS = 480_000;
/** Where this runs from: `dist`, or another folder that tsc wrote to. */
const DIST = join(import.meta.dirname, '../..');

export async function killMutants(
  clauses: readonly Clause[],
  wanted: readonly string[],
  print: (line: string) => void,
): Promise<number> {
  const isWanted = (number: string): boolean => wanted.length === 0 || wanted.includes(number);
  const missing = clauses.filter(
    ({ number }) => isWanted(number) && !MUTANTS.some(({ clause }) => clause === number),
  );
  for (const { number } of missing) print(`${number} names no mutant`);
  const sick = await failuresWithout(clauses.filter(({ number }) => isWanted(number)));
  for (const { title, error } of sick) print(`FAILED without any mutant: ${title}: ${error}`);
  if (sick.length > 0) return 1;
  const queue = MUTANTS.filter(({ clause }) => isWanted(clause));
  let killed = 0;
  let survived = 0;
  const work = async (worker: number): Promise<void> => {
    const copy = copyDist(DIST, join(ROOT, '.cache/contract', `mutants-${worker}`));
    for (let mutant = queue.shift(); mutant; mutant = queue.shift()) {
      const verdict = await tryMutant(copy, mutant, clauses);
      if (verdict.startsWith('killed')) killed++;
      else survived++;
      print(`${mutant.clause.padEnd(4)} ${verdict}  ${mutant.file}: ${mutant.find} → ${mutant.replace}`);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, (_, worker) => work(worker)));
  print(`${killed} passed, ${survived + missing.length} failed`);
  return survived + missing.length > 0 ? 1 : 0;
}

/** Tests that fail anyway kill nothing. */
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

/** Of the titles that cite one of the clauses. (Later versions of Node put the suite's title in front.) */
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

/** The compiled test files that prove one of the clauses: the layers' own only for clauses of layers. */
function filesOf(dist: string, clauses: readonly Clause[]): string[] {
  const citing = (paths: readonly string[], isOfLayer: boolean): string[] => {
    const numbers = new Set(
      clauses.filter((clause) => clause.isOfLayer === isOfLayer).map(({ number }) => number),
    );
    return paths.filter((path) => numbersIn(path).some((number) => numbers.has(number)));
  };
  return [...citing(contractFiles(dist), false), ...citing(layerFiles(dist), true)];
}
