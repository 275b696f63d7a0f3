/**
 * Fuzz of everything that comes from outside: `npm run fuzz`. Every case is made by its seed alone.
 *
 *   npm run fuzz -- --seconds 120               all targets in turn, for this time
 *   npm run fuzz -- --target lists --seed 7     one case
 */
import { parseArgs } from 'node:util';
import { Fuzzer } from './probe.ts';
import type { FuzzTarget } from './probe.ts';
import { TARGETS } from './targets.ts';

const SECONDS = 120;

const print = (text: string): boolean => process.stdout.write(`${text}\n`);

/** Runs one target for its share of the time, or one seed of it. @returns the number of seeds that failed */
async function fuzz(target: FuzzTarget, first: number, until: number): Promise<number> {
  await using fuzzer = await Fuzzer.open(target);
  let seed = first;
  const faults: string[] = [];
  const report = (complaints: readonly string[], which: string): void => {
    if (complaints.length === 0) return;
    faults.push(which);
    print(`FAULT ${target.name} ${which}\n${complaints.map((complaint) => `  ${complaint}`).join('\n')}`);
  };
  do report(await fuzzer.run(seed), `--seed ${seed++}`);
  while (performance.now() < until && faults.length < 5);
  report(await fuzzer.leftovers(), `from --seed ${first} to ${seed - 1}`);
  print(`${target.name}: ${seed - first} cases from seed ${first}, ${faults.length} faults`);
  return faults.length;
}

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    target: { type: 'string', multiple: true },
    seconds: { type: 'string' },
  },
});
const targets = TARGETS.filter(({ name }) => values.target?.includes(name) ?? true);
if (targets.length === 0) print(`no such target; there are ${TARGETS.map(({ name }) => name).join(', ')}`);
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const isOneCase = values.seed !== undefined && values.seconds === undefined;
const shareMs = isOneCase ? 0 : (Number(values.seconds ?? SECONDS) * 1000) / targets.length;
let failures = targets.length === 0 ? 1 : 0;
for (const target of targets) failures += await fuzz(target, seed, performance.now() + shareMs);
process.exitCode = failures === 0 ? 0 : 1;
