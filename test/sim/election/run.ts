/**
 * Lives of elections, from seed 1 on: `node dist/test/sim/election/run.js SEEDS [MUTANT]`. Prints what happened in them, and
 * stops at the first violation. A program of its own, because promises are several times as slow under the test runner.
 */
import { live } from './life.ts';
import { MUTANTS } from './mutants.ts';

export interface Lives {
  readonly lives: number;
  readonly terms: number;
  readonly losses: number;
  readonly releases: number;
  readonly violations: readonly string[];
}

const [seeds = '1000', title = ''] = process.argv.slice(2);
const mutant = MUTANTS.find((candidate) => candidate.title === title);
if (title !== '' && !mutant) throw new Error(`no mutant ${title}`);

let result: Lives = { lives: 0, terms: 0, losses: 0, releases: 0, violations: [] };
while (result.lives < Number(seeds) && result.violations.length === 0) {
  const seed = result.lives + 1;
  const { terms, losses, releases, violations } = await live(seed, mutant);
  result = {
    lives: seed,
    terms: result.terms + terms,
    losses: result.losses + losses,
    releases: result.releases + releases,
    violations: violations.map((violation) => `seed ${seed}: ${violation}`),
  };
}
process.stdout.write(`${JSON.stringify(result)}\n`);
