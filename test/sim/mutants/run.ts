/** `npm run suite -- mutants`: checks that the oracle sees every mutant, and sees nothing without one. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { copyDist, withFault } from '../../contract/fault.ts';
import { HANG_MS } from '../../kit/hang.ts';
import { MUTANTS } from './mutants.ts';
import type { Mutant } from './mutants.ts';

const PARALLEL = 2;
const SEEDS_MAX = 500;
const BASELINE_SEEDS = 20;
/** Times that the seeds may take with a mutant, relative to the seeds without it. */
const PATIENCE = 10;
const DIST = join(import.meta.dirname, '../../..');
const run = promisify(execFile);

const print = (line: string): boolean => process.stdout.write(`${line}\n`);

interface Outcome {
  readonly kind: 'seen' | 'not seen' | 'timed out' | 'failed';
  /** The violation that the oracle saw first, or the error of the trial itself. */
  readonly text: string;
}

/** Simulates seeds until the oracle sees a violation. A limit of time is no violation, and neither is an error. */
async function trial(dist: string, seeds: number, limitMs: number): Promise<Outcome> {
  const args = [join(dist, 'test/sim/mutants/trial.js'), String(seeds)];
  try {
    const text = (await run(process.execPath, args, { timeout: limitMs })).stdout.trim();
    return { kind: text === '' ? 'not seen' : 'seen', text };
  } catch (error) {
    const [text = ''] = (error instanceof Error ? error.message : String(error)).split('\n').slice(-1);
    return { kind: (error as { killed?: boolean }).killed ? 'timed out' : 'failed', text };
  }
}

async function main(): Promise<number> {
  const startMs = performance.now();
  const healthy = await trial(DIST, BASELINE_SEEDS, PATIENCE * HANG_MS);
  const limitMs = Math.max(HANG_MS, PATIENCE * (SEEDS_MAX / BASELINE_SEEDS) * (performance.now() - startMs));
  if (healthy.kind !== 'not seen') {
    print(`FAILED without any mutant: ${healthy.kind}: ${healthy.text}`);
    return 1;
  }
  const queue = [...MUTANTS];
  const width = Math.max(...MUTANTS.map(({ name }) => name.length));
  let killed = 0;
  const work = async (worker: number): Promise<void> => {
    const copy = copyDist(DIST, join(DIST, '../.cache/mutants', `copy-${worker}`));
    for (let mutant: Mutant | undefined = queue.shift(); mutant; mutant = queue.shift()) {
      const outcome = await withFault(copy, mutant, () => trial(copy, SEEDS_MAX, limitMs));
      const { kind, text } = typeof outcome === 'string' ? { kind: 'not made', text: outcome } : outcome;
      if (kind === 'seen') killed++;
      print(`${mutant.name.padEnd(width)}  ${kind === 'seen' ? 'killed by' : `SURVIVED (${kind})`} ${text}`);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, (_, worker) => work(worker)));
  print(`${killed} passed, ${MUTANTS.length - killed} failed`);
  return killed === MUTANTS.length ? 0 : 1;
}

process.exitCode = await main();
