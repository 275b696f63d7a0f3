/**
 * Runs the cases that need sockets, threads or a process, one after the other: `npm run suite -- faults`. The simulator runs the
 * others (test/sim/faults). A case whose fault did not land is INVALID, which is a failure.
 *
 *   npm run suite -- faults --case 37 --case 42b   only these
 */
import { parseArgs } from 'node:util';
import { reportOf, runCase } from '../sim/faults/judge-case.ts';
import { CASES } from './cases.ts';
import { Scene } from './scene.ts';

const { values } = parseArgs({ options: { case: { type: 'string', multiple: true } } });
const wanted = new Set(values.case);
const cases = CASES.filter(
  ({ id }) => wanted.size === 0 || wanted.has(id) || wanted.has(id.replace(/\D+$/, '')),
);
let passed = 0;
for (const fault of cases) {
  const outcome = await runCase(fault, () => Scene.start(fault));
  process.stdout.write(`${reportOf(outcome)}\n`);
  if (outcome.verdict === 'passed') passed++;
}
process.stdout.write(`${passed} passed, ${cases.length - passed} failed\n`);
process.exitCode = passed === cases.length && passed > 0 ? 0 : 1;
