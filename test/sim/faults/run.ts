/**
 * Runs the fault cases of the simulator with many seeds, each of which is another order of work and other bytes at a
 * time.
 *
 *   --seeds N [--from S]        default: seed 1
 *   --case 5 --case 9b          only these
 */
import { parseArgs } from 'node:util';
import { CASES } from './cases.ts';
import { reportOf, runCase } from './judge-case.ts';
import { SimulatedScene } from './simulated-scene.ts';

const { values } = parseArgs({
  options: { case: { type: 'string', multiple: true }, seeds: { type: 'string' }, from: { type: 'string' } },
});
const wanted = new Set(values.case);
const cases = CASES.filter(({ id }) => wanted.size === 0 || wanted.has(id));
const from = Number(values.from ?? 1);
let failed = 0;
for (let seed = from; seed < from + Number(values.seeds ?? 1); seed++) {
  for (const fault of cases) {
    const outcome = await runCase(fault, () => SimulatedScene.start(fault, seed));
    if (outcome.verdict !== 'passed') failed++;
    if (outcome.verdict !== 'passed' || wanted.size > 0)
      process.stdout.write(`seed ${seed}: ${reportOf(outcome)}\n`);
  }
}
process.stdout.write(`${failed} failed\n`);
process.exitCode = failed === 0 && cases.length > 0 ? 0 : 1;
