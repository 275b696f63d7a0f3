/** `npm run bench`: kubeloom beside the limit and beside other clients. See docs/benchmarks.md. */
import { writeFileSync } from 'node:fs';
import { Command } from 'commander';
import { report as reportFailure } from '../src/cli/failure.ts';
import { collectClients, parseRounds, parseWish } from './arguments.ts';
import type { Flags, Wish } from './arguments.ts';
import type { BenchCase } from './case.ts';
import { BASELINE_FILE, compareWith, comparisonText, ratiosOf, readBaseline } from './compare.ts';
import { readReport, reportJson } from './document.ts';
import type { Report } from './document.ts';
import { durationText, estimateSeconds } from './estimate.ts';
import { describeMachine, machineText } from './machine.ts';
import { SUITES } from './names.ts';
import { writeReport } from './report/write.ts';
import { plan, runPlan } from './run.ts';
import type { Row } from './row.ts';
import { smokeFindings } from './smoke.ts';
import { tableText } from './table-text.ts';

const EXIT_FAILED = 1;
/** A smoke's cases are so small that most of their time is waiting for a process. */
const SMOKE_LANES = 2;

async function bench(suites: readonly string[], flags: Flags): Promise<void> {
  if (flags.report !== undefined) {
    for (const file of writeReport(flags.report)) console.log(`written: ${file}`);
    return;
  }
  const wish = parseWish(suites, flags);
  const say = flags.json === true ? console.error : console.log;
  const measured = flags.from === undefined ? await measure(wish, say) : readReport(flags.from);
  if (flags.json === true) process.stdout.write(reportJson(measured));
  else if (flags.json !== undefined) writeFileSync(flags.json, reportJson(measured));
  if (flags.writeBaseline) writeBaseline(measured);
  if (flags.compare) compare(measured.results, say);
}

async function measure(wish: Wish, say: (text: string) => void): Promise<Report> {
  const machine = describeMachine();
  const cases = plan(wish);
  const estimate = wish.level === 'smoke' ? 'a minute' : durationText(estimateSeconds(cases, wish));
  say(machineText(machine));
  say(`${cases.length} cases: about ${estimate} on a quiet machine, and whatever has to be built first`);
  const startedAt = performance.now();
  const results = wish.level === 'smoke' ? await smoke(cases, wish) : await run(cases, wish);
  if (wish.level !== 'smoke') say(tableText(results));
  say(`took ${durationText((performance.now() - startedAt) / 1000)}, estimated ${estimate}`);
  return { machine, results };
}

function run(cases: readonly BenchCase[], wish: Wish): Promise<Row[]> {
  return runPlan(cases, wish, (line) => console.error(line));
}

async function smoke(cases: readonly BenchCase[], wish: Wish): Promise<Row[]> {
  const lanes = Array.from({ length: SMOKE_LANES }, (_, lane) =>
    run(
      cases.filter((_case, index) => index % SMOKE_LANES === lane),
      wish,
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

function writeBaseline({ machine, results }: Report): void {
  const baseline = { machine: machineText(machine), ratios: ratiosOf(results) };
  writeFileSync(BASELINE_FILE, `${JSON.stringify(baseline, undefined, 2)}\n`);
}

const command = new Command('bench')
  .description('Measures kubeloom beside the limit and beside other clients, on this machine.')
  .argument('[suite...]', `which suites; default: all of ${SUITES.join(', ')}`)
  .option('--quick', 'only the rows that goals are judged on, one round')
  .option('--all', 'the whole grid; takes hours')
  .option('--smoke', 'every case at tiny size: only that each gives a sane row')
  .option('--json [file]', 'write the results as JSON, to a file or to standard output')
  .option('--client <name>', 'only this client; may be repeated, or a,b', collectClients)
  .option('--case <text>', 'only cases whose name contains the text')
  .option('--rounds <n>', 'how often every client runs; default 3 for default rows, else 1', parseRounds)
  .option('--from <file>', 'run nothing: take the results that --json wrote')
  .option('--compare', 'compare with the ratios of bench/baseline.json; exit 1 when one is worse')
  .option('--write-baseline', 'store the ratios of this run in bench/baseline.json')
  .option('--report <file...>', 'run nothing: write docs/benchmarks.md and its charts from results')
  .option('--verbose', 'print stacks of errors')
  .configureOutput({ outputError: () => undefined })
  .exitOverride()
  .action(bench);

try {
  await command.parseAsync();
} catch (error) {
  process.exitCode = reportFailure(error, process.argv.includes('--verbose'));
}
