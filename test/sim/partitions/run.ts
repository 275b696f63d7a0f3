/**
 * Lives of groups: `node dist/test/sim/partitions/run.js SEEDS [MUTANT] [FIRST]`. Prints what happened in them, and stops at the
 * first violation.
 */
import { live } from './life.ts';
import { MUTANTS } from './mutants.ts';

export interface Lives {
  readonly lives: number;
  readonly begun: number;
  readonly lost: number;
  readonly handedOver: number;
  readonly violations: readonly string[];
}

const [seeds = '1000', title = '', first = '1'] = process.argv.slice(2);
const mutant = MUTANTS.find((candidate) => candidate.title === title);
if (title !== '' && !mutant) throw new Error(`no mutant ${title}`);

let result: Lives = { lives: 0, begun: 0, lost: 0, handedOver: 0, violations: [] };
while (result.lives < Number(seeds) && result.violations.length === 0) {
  const seed = result.lives + Number(first);
  const { begun, lost, handedOver, violations } = await live(seed, mutant);
  result = {
    lives: result.lives + 1,
    begun: result.begun + begun,
    lost: result.lost + lost,
    handedOver: result.handedOver + handedOver,
    violations: violations.map((violation) => `seed ${seed}: ${violation}`),
  };
}
process.stdout.write(`${JSON.stringify(result)}\n`);
