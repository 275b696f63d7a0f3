/**
 * Fuzz of everything that comes from outside: `npm run fuzz`. Every case is made by its seed alone.
 *
 *   npm run fuzz                                every target's number of cases, from a random seed
 *   npm run fuzz -- --seed 1                    the cases from this seed on, as CI runs them
 *   npm run fuzz -- --seconds 600               all targets in turn, for this time
 *   npm run fuzz -- --target lists --case 7     one case again
 */
import { parseArgs } from 'node:util';
import { Fuzzer } from './probe.ts';
import type { FuzzTarget } from './probe.ts';
import { TARGETS } from './targets.ts';

const print = (text: string): boolean => process.stdout.write(`${text}\n`);

const FAULTS_MAX = 5;

/** Runs cases of one target from a seed on until enough have run. @returns the number of faults */
async function fuzz(
  target: FuzzTarget,
  first: number,
  isEnough: (cases: number) => boolean,
): Promise<number> {
  await using fuzzer = await Fuzzer.open(target);
  let seed = first;
  const faults: string[] = [];
  const report = (complaints: readonly string[], which: string): void => {
    if (complaints.length === 0) return;
    faults.push(which);
    print(`FAULT ${target.name} ${which}\n${complaints.map((complaint) => `  ${complaint}`).join('\n')}`);
  };
  do report(await fuzzer.run(seed), `--case ${seed++}`);
  while (!isEnough(seed - first) && faults.length < FAULTS_MAX);
  report(await fuzzer.leftovers(), `--seed ${first}, ${seed - first} cases`);
  print(`${target.name}: ${seed - first} cases from seed ${first}, ${faults.length} faults`);
  return faults.length;
}

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    target: { type: 'string', multiple: true },
    seconds: { type: 'string' },
    case: { type: 'string' },
  },
});
const targets = TARGETS.filter(({ name }) => values.target?.includes(name) ?? true);
if (targets.length === 0) print(`no such target; there are ${TARGETS.map(({ name }) => name).join(', ')}`);
const { case: oneCase, seed, seconds } = values;
const first = Number(oneCase ?? seed ?? Math.floor(Math.random() * 2 ** 31));
const shareMs = (Number(seconds) * 1000) / targets.length;
let failures = targets.length === 0 ? 1 : 0;
for (const target of targets) {
  const until = performance.now() + shareMs;
  failures += await fuzz(target, first, (cases) => {
    if (oneCase !== undefined) return true;
    return seconds === undefined ? cases >= target.cases : performance.now() >= until;
  });
}
process.exitCode = failures === 0 ? 0 : 1;
