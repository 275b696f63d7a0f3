/**
 * Run of the mutants. Each mutant is put into a copy of the compiled code, and the tests of the mutant's clause, which
 * pass without it, must fail. The copies are temporary, dist stays unchanged, and two mutants run at a time.
 */
import { join } from 'node:path';
import { HANG_MS } from '../kit/hang.ts';
import { turnAmong } from '../runtimes/commit.ts';
import { runTests } from './child-run.ts';
import type { RunOptions, TestRun } from './child-run.ts';
import { ROOT } from './clauses.ts';
import type { Clause } from './clauses.ts';
import { copyDist, withFault } from './fault.ts';
import { contractFiles, layerFiles, numbersIn } from './layers.ts';
import type { Mutant } from './mutant.ts';
import { verdictOf } from './mutant-verdict.ts';
import type { MutantVerdict } from './mutant-verdict.ts';
import { MUTANTS } from './mutants.ts';

const PARALLEL = 2;
/** Time and turns of the tests with a mutant, relative to the tests without it. */
const PATIENCE = 10;
const TURNS_MIN = 5_000;
/** Folder from which this runs: `dist`, or another output folder of tsc. */
const DIST = join(import.meta.dirname, '../..');

export interface MutationOptions {
  /** Numbers of clauses; all when empty. */
  readonly wanted: readonly string[];
  /** Time after which no further mutant begins. */
  readonly lastsMs: number;
  /** Hexadecimal digits that choose the first mutant if the time is not for all; those before it come last. */
  readonly commit: string;
}

export async function killMutants(
  clauses: readonly Clause[],
  { wanted, lastsMs, commit }: MutationOptions,
  print: (line: string) => void,
): Promise<number> {
  const endMs = performance.now() + lastsMs;
  const isWanted = (number: string): boolean => wanted.length === 0 || wanted.includes(number);
  const missing = clauses.filter(
    ({ number }) => isWanted(number) && !MUTANTS.some(({ clause }) => clause === number),
  );
  for (const { number } of missing) print(`${number} names no mutant`);
  const first = lastsMs < Infinity ? turnAmong(MUTANTS.length, commit) : 0;
  const rotated = [...MUTANTS.slice(first), ...MUTANTS.slice(0, first)];
  const queue = rotated.filter(({ clause }) => isWanted(clause));
  const next = (): Mutant | undefined => (performance.now() < endMs ? queue.shift() : undefined);
  const counts = new Map<string, number>();
  let survivors = missing.length;
  const work = async (worker: number): Promise<void> => {
    const copy = copyDist(DIST, join(ROOT, '.cache/contract', `mutants-${worker}`));
    for (let mutant = next(); mutant; mutant = next()) {
      const { clause, file, find, replace } = mutant;
      const isOfLayer = clauses.some((each) => each.number === clause && each.isOfLayer);
      const { verdict, reason } = await tryMutant(copy, mutant, isOfLayer);
      counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
      const isKilled = verdict.startsWith('killed');
      if (!isKilled) survivors++;
      const text = isKilled ? verdict : `SURVIVED (${reason})`;
      print(`${clause.padEnd(4)} ${text}  ${file}: ${find} → ${replace}`);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, (_, worker) => work(worker)));
  if (queue.length > 0) print(`the time was over before ${queue.length} mutants`);
  print(Array.from(counts, ([verdict, count]) => `${count} ${verdict}`).join(', '));
  return survivors > 0 ? 1 : 0;
}

async function tryMutant(
  copy: string,
  mutant: Mutant,
  isOfLayer: boolean,
): Promise<{ readonly verdict: MutantVerdict; readonly reason: string }> {
  const run = (limits: Pick<RunOptions, 'limitMs' | 'turnsMax'>): Promise<TestRun> =>
    runTests({
      files: (isOfLayer ? layerFiles : contractFiles)(copy).filter((path) =>
        numbersIn(path).includes(mutant.clause),
      ),
      run: `${mutant.configuration ?? 'twin'}:json`,
      // Later versions of Node prefix the suite's title.
      pattern: `(^| )(C\\d+ )*${mutant.clause} `,
      ...limits,
    });
  const startMs = performance.now();
  const healthy = await run({});
  const limits = {
    limitMs: Math.max(HANG_MS, Math.ceil(PATIENCE * (performance.now() - startMs))),
    turnsMax: Math.max(TURNS_MIN, PATIENCE * healthy.turns),
  };
  const mutated = await withFault(copy, mutant, () => run(limits));
  if (typeof mutated === 'string') return { verdict: 'survived', reason: mutated };
  const verdict = verdictOf(healthy.tests, mutated.tests);
  const failure = verdict === 'sick' ? healthy.tests.find(({ isPassed }) => !isPassed) : undefined;
  return { verdict, reason: failure ? `sick: ${failure.title}: ${failure.error}` : verdict };
}
