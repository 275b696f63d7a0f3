/**
 * Runs the contract's tests: `npm run contract`. The tests run in every configuration and with both codecs, tests of
 * the layers once. It prints the result of each clause in each configuration. It fails if a test fails, a clause lacks
 * a test, a test cites an unknown clause, or the statistics of the threads do not show the configuration.
 *
 * - npm run contract -- --quick           runs the tests with three threads and msgpack only: another Node
 * - npm run contract -- --json            prints a line for machines
 * - npm run contract -- --mutants [C12]   requires that the tests of each clause kill the clause's mutant
 * - npm run contract -- --then-mutants --minutes 20    both, mutants for so long: each commit begins with another mutant
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { commitOf, turnAmong } from '../runtimes/commit.ts';
import { runTests } from './child-run.ts';
import { readClauses } from './clauses.ts';
import { contractFiles, layerFiles } from './layers.ts';
import { killMutants } from './mutation.ts';
import { MUTANTS } from './mutants.ts';
import { CODECS, CONFIGURATIONS, ONCE, judge, table } from './verdict.ts';
import type { Result } from './verdict.ts';

/** Limit for a whole file: on a machine with other load the longest needs two minutes. */
const TEST_TIMEOUT_MS = 600_000;
const RUN_TIMEOUT_MS = 1_200_000;

const DIST = join(import.meta.dirname, '../..');
const FILES = contractFiles(DIST);

/** Runs the configurations in sequence, so that each can use the whole machine. */
async function runAll(): Promise<Result[]> {
  const results: Result[] = [];
  for (const configuration of CONFIGURATIONS) {
    for (const codec of CODECS) {
      const lines = await runTests({
        files: FILES,
        configuration,
        codec,
        testTimeoutMs: TEST_TIMEOUT_MS,
        timeoutMs: RUN_TIMEOUT_MS,
      });
      results.push(...lines.map((line) => ({ configuration, codec, ...line })));
    }
  }
  const lines = await runTests({
    files: layerFiles(DIST),
    configuration: 'twin',
    codec: 'json',
    pattern: '(^| )C\\d+ ',
    testTimeoutMs: TEST_TIMEOUT_MS,
    timeoutMs: RUN_TIMEOUT_MS,
  });
  results.push(...lines.map((line) => ({ configuration: ONCE as typeof ONCE, codec: 'json', ...line })));
  return results;
}

/** Runs one configuration. @returns the number of tests, and a line for each failure */
async function runQuick(): Promise<{ readonly tests: number; readonly complaints: string[] }> {
  const lines = await runTests({
    files: FILES,
    configuration: 'threads-3',
    codec: 'msgpack',
    testTimeoutMs: TEST_TIMEOUT_MS,
    timeoutMs: RUN_TIMEOUT_MS,
  });
  const complaints = lines.flatMap(({ title, isPassed, error }) =>
    isPassed ? [] : [`FAILED ${title}: ${error}`],
  );
  if (lines.length === 0) complaints.push('no test was run');
  return { tests: lines.length, complaints };
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      quick: { type: 'boolean' },
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
  const mutation = { wanted: positionals, isHealthy: false, lastsMs: minutes * 60_000, first: 0 };
  if (values.mutants) return killMutants(clauses, mutation, print);
  if (values.quick) {
    const { tests, complaints } = await runQuick();
    for (const complaint of complaints) print(complaint);
    print(`# tests ${tests}`);
    return complaints.length === 0 ? 0 : 1;
  }
  const results = await runAll();
  const { summary, isGreen, complaints } = judge(clauses, results, FILES.length);
  if (values.json) {
    print(JSON.stringify(summary));
  } else {
    print(table(clauses, results));
    for (const complaint of complaints) print(complaint);
    print(`${summary.clauses} clauses, ${summary.passed} passed, ${summary.failed} failed`);
  }
  if (!isGreen) return 1;
  if (!values['then-mutants']) return 0;
  const first = turnAmong(MUTANTS.length, commitOf());
  return killMutants(clauses, { ...mutation, isHealthy: true, first }, print);
}

process.exitCode = await main();
