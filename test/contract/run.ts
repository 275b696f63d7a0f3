/**
 * Runs the contract's tests: `npm run suite -- contract`. The tests run in every configuration and with both codecs, tests of
 * the layers once. It prints the result of each clause in each configuration. It fails if a test fails, a clause lacks
 * a test, a test cites an unknown clause, or the statistics of the threads do not show the configuration. It judges
 * only the parts that it runs.
 *
 * - npm run suite -- contract --configurations twin:json,threads-3:msgpack    only these; layers: the layers' tests
 * - npm run suite -- contract --quick           these two, as `npm test` also runs the layers' tests; --turn: and one of the
 *                                         other four, by the commit
 * - npm run suite -- contract --json            prints a line for machines
 * - npm run suite -- contract --mutants [C12]   requires that the tests of each clause kill the clause's mutant
 * - npm run suite -- contract --then-mutants --minutes 20    both, mutants for so long: each commit begins with another mutant
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { commitOf } from '../runtimes/commit.ts';
import { runTests } from './child-run.ts';
import type { TestRun } from './child-run.ts';
import { chosenParts } from './chosen-parts.ts';
import { readClauses } from './clauses.ts';
import { contractFiles, layerFiles } from './layers.ts';
import { killMutants } from './mutation.ts';
import type { TestLine } from './reporter.ts';
import { LAYERS, judge, table } from './verdict.ts';
import type { Part } from './verdict.ts';

const DIST = join(import.meta.dirname, '../..');
const FILES = contractFiles(DIST);

function runPart(part: Part): Promise<TestRun> {
  if (part !== LAYERS) return runTests({ files: FILES, run: part });
  return runTests({ files: layerFiles(DIST), run: 'twin:json', pattern: '(^| )C\\d+ ' });
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      configurations: { type: 'string' },
      quick: { type: 'boolean' },
      turn: { type: 'boolean' },
      json: { type: 'boolean' },
      mutants: { type: 'boolean' },
      'then-mutants': { type: 'boolean' },
      minutes: { type: 'string' },
    },
  });
  const clauses = readClauses();
  const print = (text: string): boolean => process.stdout.write(`${text}\n`);
  const unknown = positionals.find((text) => !clauses.some(({ number }) => number === text));
  const minutes = Number(values.minutes ?? Infinity);
  if (unknown !== undefined || Number.isNaN(minutes)) {
    console.error(
      `${unknown ?? `--minutes ${values.minutes}`}: pass a clause such as C12, or a number of minutes`,
    );
    return 1;
  }
  const commit = commitOf();
  const mutation = { wanted: positionals, lastsMs: minutes * 60_000, commit };
  if (values.mutants) return killMutants(clauses, mutation, print);
  const results = new Map<Part, readonly TestLine[]>();
  // In sequence, so that each can use the whole machine.
  for (const part of chosenParts(values, commit)) results.set(part, (await runPart(part)).tests);
  const { summary, isGreen, complaints } = judge(clauses, results, FILES.length);
  if (values.json) {
    print(JSON.stringify(summary));
  } else {
    print(table(clauses, results));
    for (const complaint of complaints) print(complaint);
    print(`${summary.clauses} clauses, ${summary.passed} passed, ${summary.failed} failed`);
    print(`# tests ${summary.passed + summary.failed}`);
  }
  return isGreen && values['then-mutants'] ? killMutants(clauses, mutation, print) : Number(!isGreen);
}

process.exitCode = await main();
