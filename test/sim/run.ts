/**
 * `npm run suite -- sim --seeds N [--from S] [--seed S]`: simulates N runs and judges each.
 *
 *   --seed S    this one only, with all its violations; its histories are written to files
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { writeHistories } from './oracle/json-lines.ts';
import { describe } from './oracle/violation.ts';
import { hashOf, live } from './life.ts';
import type { Life } from './life.ts';
import { Tally } from './tally.ts';

const FOLDER = '.cache/sim';
const SHOWN_MAX = 10;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { seeds: { type: 'string' }, from: { type: 'string' }, seed: { type: 'string' } },
  });
  const print = (text: string): boolean => process.stdout.write(`${text}\n`);
  const from = Number(values.seed ?? values.from ?? 1);
  const count = values.seed === undefined ? Number(values.seeds ?? 200) : 1;
  const tally = new Tally();
  for (let seed = from; seed < from + count; seed++) {
    const life = await live(seed);
    tally.add(life);
    if (life.violations.length > 0 || values.seed !== undefined) report(life, print);
    if (process.stdout.isTTY) process.stdout.write(`\r${seed - from + 1} of ${count}`);
    // Yields to the event loop: a run is one long microtask.
    await new Promise((resolve) => setImmediate(resolve));
  }
  print(`\n${tally.table()}`);
  print(tally.summary());
  return tally.failed === 0 && tally.isMeaningful ? 0 : 1;
}

function report(life: Life, print: (text: string) => unknown): void {
  const path = join(FOLDER, `seed-${life.seed}.jsonl`);
  const landed = Array.from(life.landed, ([fault, times]) => `${fault} ${times}×`);
  writeHistories(path, life.histories);
  const counts = `${life.violations.length} violations, ${life.writes} writes, history ${hashOf(life)}`;
  print(`seed ${life.seed}: ${counts}, ${landed.join(', ')}`);
  for (const one of life.violations.slice(0, SHOWN_MAX)) print(`  ${describe(one)}`);
  print(`  in ${path}; again with: npm run suite -- sim --seed ${life.seed}`);
}

process.exitCode = await main();
