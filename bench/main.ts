/** `npm run bench`: kubeloom beside the limit and beside other clients. See docs/benchmarks.md. */
import { writeFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { Command } from 'commander';
import { collectClients, parseRounds, parseRunOptions } from './arguments.ts';
import type { Flags, RunOptions } from './arguments.ts';
import type { BenchCase } from './case.ts';
import { BASELINE_FILE, compareWith, comparisonText, ratiosOf, readBaseline } from './compare.ts';
import { readReport, reportJson, describeMachine, machineText } from './document.ts';
import type { Report } from './document.ts';
import { durationText, estimateSeconds } from './estimate.ts';
import { judge, judgementsText } from './goals.ts';
import { SUITES } from './names.ts';
import { writeReport } from './report/write.ts';
import { plan, runPlan } from './run.ts';
import type { Row } from './row.ts';
import { smokeFindings } from './smoke.ts';
import { SUITE_CASES } from './suites.ts';
import { tableText } from './table-text.ts';

const EXIT_FAILED = 1;
/** Number of cases at a time in a smoke: they are so small that most of their time is waiting for a process. */
const SMOKE_LANES = 2;

async function bench(suites: readonly string[], flags: Flags): Promise<void> {
  if (flags.report !== undefined) {
    for (const file of writeReport(flags.report)) console.log(`written: ${file}`);
    return;
  }
  const runOptions = parseRunOptions(suites, flags);
  const say = flags.json === true ? console.error : console.log;
  // Without suites, --goals reads the file.
  const from = suites.length === 0 ? (flags.goals ?? flags.from) : flags.from;
  const file = suites.length === 0 ? flags.json : (flags.goals ?? flags.json);
  const measured = from === undefined ? await measure(runOptions, say) : readReport(from);
  if (file === true) process.stdout.write(reportJson(measured));
  else if (file !== undefined) writeFileSync(file, reportJson(measured));
  if (flags.writeBaseline) writeBaseline(measured);
  if (flags.compare) compare(measured.results, say);
  if (flags.goals !== undefined) judgeGoals(measured.results, runOptions);
}

async function measure(runOptions: RunOptions, say: (text: string) => void): Promise<Report> {
  const machine = describeMachine();
  const cases = plan(runOptions);
  const estimate =
    runOptions.level === 'smoke' ? 'a minute' : durationText(estimateSeconds(cases, runOptions));
  say(machineText(machine));
  say(`${cases.length} cases: about ${estimate} on a quiet machine, plus the time to build missing programs`);
  const startedAt = performance.now();
  const results =
    runOptions.level === 'smoke' ? await smoke(cases, runOptions) : await run(cases, runOptions);
  if (runOptions.level !== 'smoke') say(tableText(results));
  say(`took ${durationText((performance.now() - startedAt) / 1000)}, estimated ${estimate}`);
  return { machine, results };
}

function run(cases: readonly BenchCase[], runOptions: RunOptions): Promise<Row[]> {
  return runPlan(cases, runOptions, (line) => console.error(line));
}

async function smoke(cases: readonly BenchCase[], runOptions: RunOptions): Promise<Row[]> {
  const lanes = Array.from({ length: SMOKE_LANES }, (_, lane) =>
    run(
      cases.filter((_case, index) => index % SMOKE_LANES === lane),
      runOptions,
    ),
  );
  const rows = (await Promise.all(lanes)).flat();
  const findings = smokeFindings(cases, rows);
  for (const finding of findings) console.error(`FAILED ${finding}`);
  console.error(`smoke: ${cases.length} cases, ${rows.length} rows, ${findings.length} failed`);
  if (findings.length > 0) process.exitCode = EXIT_FAILED;
  return rows;
}

function compare(rows: readonly Row[], say: (text: string) => void): void {
  const comparisons = compareWith(readBaseline(), rows);
  say(comparisonText(comparisons));
  if (comparisons.some(({ isRegression }) => isRegression)) process.exitCode = EXIT_FAILED;
}

function judgeGoals(rows: readonly Row[], { suites, caseText }: RunOptions): void {
  const cases = suites.flatMap((suite) => SUITE_CASES[suite]).filter(({ name }) => name.includes(caseText));
  const judgements = judge(cases, rows);
  console.log(judgementsText(judgements));
  if (judgements.some(({ verdict }) => verdict !== 'met')) process.exitCode = EXIT_FAILED;
}

function writeBaseline({ machine, results }: Report): void {
  const baseline = { machine: machineText(machine), ratios: ratiosOf(results) };
  writeFileSync(BASELINE_FILE, `${JSON.stringify(baseline, undefined, 2)}\n`);
}

const command = new Command('bench')
  .description('Measures kubeloom beside the limit and beside other clients, on this machine.')
  .argument('[suite...]', `which suites; default: all of ${SUITES.join(', ')}`)
  .option('--quick', 'only the rows that goals are judged on, one round')
  .option('--all', 'the whole grid; takes hours')
  .option('--smoke', 'every case at tiny size; checks only that each gives a valid row')
  .option('--json [file]', 'write the results as JSON, to a file or to standard output')
  .option('--client <name>', 'only this client; may be repeated, or a,b', collectClients)
  .option('--case <text>', 'only cases whose name contains the text')
  .option('--rounds <n>', 'how often every client runs; default 3 for default rows, else 1', parseRounds)
  .option(
    '--goals <file>',
    'judge the goals on the results in the file; suites run first and write it; exit 1 unless all are met',
  )
  .option('--from <file>', 'run nothing: take the results that --json wrote')
  .option('--compare', 'compare with the ratios of bench/baseline.json; exit 1 when one is worse')
  .option('--write-baseline', 'store the ratios of this run in bench/baseline.json')
  .option('--report <file...>', 'run nothing: write docs/benchmarks.md and its charts from results')
  .option('--verbose', 'print stacks of errors')
  .action(bench);

/** The message with the code; the stack with `--verbose`, and for unexpected errors, which lack a code. */
function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isExpected = 'code' in error && !process.argv.includes('--verbose');
  return isExpected ? `error: ${error.message} (${String(error.code)})` : inspect(error);
}

try {
  await command.parseAsync();
} catch (error) {
  console.error(failureText(error));
  process.exitCode = EXIT_FAILED;
}
