/** `npm run mutants`: checks that the oracle sees every mutant, and sees nothing without one. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { copyDist, withFault } from '../../contract/fault.ts';
import { MUTANTS } from './mutants.ts';
import type { Mutant } from './mutants.ts';

const PARALLEL = 2;
const SEEDS_MAX = 500;
const BASELINE_SEEDS = 20;
const TRIAL_TIMEOUT_MS = 300_000;
const DIST = join(import.meta.dirname, '../../..');
const run = promisify(execFile);

const print = (line: string): boolean => process.stdout.write(`${line}\n`);

/** The violation that the oracle saw first; empty when none. */
async function trial(dist: string, seeds: number): Promise<{ readonly seen: string }> {
  const args = [join(dist, 'test/sim/mutants/trial.js'), String(seeds)];
  try {
    const { stdout } = await run(process.execPath, args, { timeout: TRIAL_TIMEOUT_MS });
    return { seen: stdout.trim() };
  } catch (error) {
    // An error that is not a violation does not count.
    const [reason] = (error instanceof Error ? error.message : String(error)).split('\n').slice(-1);
    print(`  the trial itself failed: ${reason}`);
    return { seen: '' };
  }
}

async function main(): Promise<number> {
  const healthy = await trial(DIST, BASELINE_SEEDS);
  if (healthy.seen !== '') {
    print(`FAILED without any mutant: ${healthy.seen}`);
    return 1;
  }
  const queue = [...MUTANTS];
  const width = Math.max(...MUTANTS.map(({ name }) => name.length));
  let killed = 0;
  const work = async (worker: number): Promise<void> => {
    const copy = copyDist(DIST, join(DIST, '../.cache/mutants', `copy-${worker}`));
    for (let mutant: Mutant | undefined = queue.shift(); mutant; mutant = queue.shift()) {
      const result = await withFault(copy, mutant, () => trial(copy, SEEDS_MAX));
      const seen = typeof result === 'string' ? '' : result.seen;
      if (seen !== '') killed++;
      const why = typeof result === 'string' ? result : `not seen in ${SEEDS_MAX} seeds`;
      print(`${mutant.name.padEnd(width)}  ${seen === '' ? `SURVIVED: ${why}` : `killed by ${seen}`}`);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, (_, worker) => work(worker)));
  print(`${killed} passed, ${MUTANTS.length - killed} failed`);
  return killed === MUTANTS.length ? 0 : 1;
}

process.exitCode = await main();
