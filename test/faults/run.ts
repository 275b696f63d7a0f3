/**
 * Runs every case of the table through the whole pipeline: `npm run faults`. There are real threads and a load, and the
 * oracle judges. A case whose fault did not land, or with too little load before it, is INVALID, which is a failure.
 *
 *   npm run faults -- --case 5 --case 9b    only these
 *   npm run faults -- --json FILE           the outcomes for machines
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { InformerThreads } from '../../src/index.ts';
import { CASES } from './cases.ts';
import type { FaultCase, Outcome } from './fault-case.ts';
import { runCase } from './run-case.ts';

const AT_ONCE = 4;

const print = (text: string): boolean => process.stdout.write(`${text}\n`);

function row({ id, what, verdict, landed, load, convergedMs, seen, complaints }: Outcome): string {
  const time = convergedMs === undefined ? '–' : `${convergedMs} ms`;
  const lines = [`${verdict.padEnd(7)} ${id.padEnd(4)} ${what}`];
  lines.push(
    `             landed ${landed || 'nothing'} · load ${load}/s · equal after ${time}${seen ? ` · ${seen}` : ''}`,
  );
  for (const complaint of complaints) lines.push(`             ✗ ${complaint}`);
  return lines.join('\n');
}

/** Runs several cases at a time, because they mostly wait. Cases that must be alone follow one after the other. */
async function runAll(cases: readonly FaultCase[], threads: InformerThreads): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const work = async (queue: FaultCase[]): Promise<void> => {
    for (let fault = queue.shift(); fault; fault = queue.shift()) {
      const outcome = await runCase(fault, threads);
      outcomes.push(outcome);
      print(row(outcome));
    }
  };
  const together = cases.filter(({ isAlone }) => isAlone !== true);
  await Promise.all(Array.from({ length: AT_ONCE }, () => work(together)));
  await work(cases.filter(({ isAlone }) => isAlone === true));
  return outcomes;
}

async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      case: { type: 'string', multiple: true },
      json: { type: 'string' },
      threads: { type: 'string' },
    },
  });
  const wanted = new Set(values.case);
  const cases = CASES.filter(
    ({ id }) => wanted.size === 0 || wanted.has(id) || wanted.has(id.replace(/\D+$/, '')),
  );
  if (cases.length === 0) {
    print('no such case');
    return 1;
  }
  const threads = new InformerThreads({ indexerThreads: Number(values.threads ?? 2) });
  const outcomes = await runAll(cases, threads);
  await threads.close();
  const passed = outcomes.filter(({ verdict }) => verdict === 'passed').length;
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(outcomes, undefined, 1)}\n`);
  print(`${passed} passed, ${outcomes.length - passed} failed`);
  return passed === outcomes.length ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
