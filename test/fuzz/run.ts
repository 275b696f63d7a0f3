/**
 * Fuzz of everything that comes from outside: `npm run suite -- fuzz`. Every case is made by its seed alone.
 *
 *   npm run suite -- fuzz                                every target's number of cases, from a random seed
 *   npm run suite -- fuzz --seed 1                    the cases from this seed on, as CI runs them
 *   npm run suite -- fuzz --seed 1 --fifths 0,3       cases whose seed modulo 5 is 0 or 3
 *   npm run suite -- fuzz --seconds 600               all targets in turn, for this time
 *   npm run suite -- fuzz --target lists --case 7     one case again
 */
import { parseArgs } from 'node:util';
import { ofFifths } from './fifths.ts';
import { Fuzzer } from './probe.ts';
import type { FuzzTarget } from './probe.ts';
import { TARGETS } from './targets.ts';

const print = (text: string): boolean => process.stdout.write(`${text}\n`);

const FAULTS_MAX = 5;

interface Choice {
  readonly isChosen: (seed: number) => boolean;
  /** Whether a target's seeds are enough, chosen or not. */
  readonly isEnough: (seeds: number) => boolean;
}

/** Runs cases of one target from a seed on until enough have run. @returns the number of faults */
async function fuzz(target: FuzzTarget, first: number, { isChosen, isEnough }: Choice): Promise<number> {
  await using fuzzer = await Fuzzer.open(target);
  let cases = 0;
  const faults: string[] = [];
  const report = (complaints: readonly string[], which: string): void => {
    if (complaints.length === 0) return;
    faults.push(which);
    print(`FAULT ${target.name} ${which}\n${complaints.map((complaint) => `  ${complaint}`).join('\n')}`);
  };
  for (let seed = first; !isEnough(seed - first) && faults.length < FAULTS_MAX; seed++) {
    if (!isChosen(seed)) continue;
    cases++;
    report(await fuzzer.run(seed), `--case ${seed}`);
  }
  report(await fuzzer.leftovers(), `--seed ${first}, ${cases} cases`);
  print(`${target.name}: ${cases} cases from seed ${first}, ${faults.length} faults`);
  return faults.length;
}

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    fifths: { type: 'string' },
    target: { type: 'string', multiple: true },
    seconds: { type: 'string' },
    case: { type: 'string' },
  },
});
const targets = TARGETS.filter(({ name }) => values.target?.includes(name) ?? true);
if (targets.length === 0) print(`no such target; there are ${TARGETS.map(({ name }) => name).join(', ')}`);
const { case: oneCase, seed, seconds, fifths } = values;
const first = Number(oneCase ?? seed ?? Math.floor(Math.random() * 2 ** 31));
const shareMs = (Number(seconds) * 1000) / targets.length;
let failures = targets.length === 0 ? 1 : 0;
for (const target of targets) {
  const until = performance.now() + shareMs;
  failures += await fuzz(target, first, {
    isChosen: ofFifths(fifths),
    isEnough: (seeds) => {
      if (oneCase !== undefined) return seeds > 0;
      return seconds === undefined ? seeds >= target.cases : performance.now() >= until;
    },
  });
}
process.exitCode = failures === 0 ? 0 : 1;
