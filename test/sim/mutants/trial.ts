/** Simulates seeds until one has a violation, and prints it. Runs in the copy that has the fault. */
import { live } from '../life.ts';
import { describe } from '../oracle/violation.ts';

const SEEDS_MAX = Number(process.argv[2] ?? 1);

for (let seed = 1; seed <= SEEDS_MAX; seed++) {
  const { violations } = await live(seed);
  const [first] = violations;
  if (!first) continue;
  const codes = [...new Set(violations.map(({ invariant }) => invariant))].join(', ');
  process.stdout.write(`${codes} in seed ${seed}: ${describe(first)}\n`);
  break;
}
