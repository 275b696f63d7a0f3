/**
 * Runs the steps of `plan.ts` and prints a table of steps and times. Every step runs, whatever became of the others, except
 * that nothing runs on code that does not compile.
 *
 *   npm run prove                  everything: an hour or two
 *   npm run prove -- --slow        a slow machine: beside two busy processes, then with timers that are four times as slow
 *   .ci/run                        what CI runs; the turn follows from the commit
 *   .ci/run --turn soak            another turn
 */
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from '../package/installation.ts';
import { carryOut, tableOf } from '../package/steps.ts';
import type { StepOutcome } from '../package/steps.ts';
import { commitOf } from '../runtimes/commit.ts';
import { SLOW_MACHINE_STEPS, TURNS, allSteps, stepsOfCi, turnOf } from './plan.ts';
import type { ProofStep } from './plan.ts';
import { failuresIn } from './failures.ts';

const LOGS = join(ROOT, '.cache/prove');
const BUSY_PROCESSES = 2;
const BUSY = 'for (;;) Math.random();';

const print = (text: string): boolean => process.stdout.write(`${text}\n`);

/** Returns whether the program is installed, by apt where the machine allows that. */
function isInstalled(program: string, debianPackage: string): boolean {
  const isThere = (): boolean => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
  if (isThere() || process.getuid?.() !== 0 || spawnSync('apt-get', ['--version']).status !== 0)
    return isThere();
  const install = `apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq ${debianPackage} >/dev/null`;
  spawnSync('sh', ['-c', install], { stdio: 'inherit' });
  return isThere();
}

/** Returns what the machine lacks for a step and cannot install; empty when it lacks nothing. */
function missingFor({ debian = {}, needsGo }: ProofStep): string {
  const missing = Object.entries(debian).flatMap(([program, name]) =>
    isInstalled(program, name) ? [] : [program],
  );
  if (needsGo && spawnSync('go', ['version']).status !== 0) missing.push('go');
  return missing.join(', ');
}

/** Builds the control plane, which takes minutes the first time, with what the other steps leave of the machine. */
function beginControlPlane(steps: readonly ProofStep[]): ChildProcess | undefined {
  if (!steps.some(({ needsGo }) => needsGo)) return undefined;
  const program = join(ROOT, 'dist/test/e2e/prepare.js');
  return spawn('nice', ['-n', '19', process.execPath, program], { stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Runs a command, and keeps a copy of the output. @throws when the command fails */
async function runLogged(command: string, log: string, environment: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn('bash', ['-c', `set -o pipefail; { ${command}; } 2>&1 | tee ${log}`], {
    cwd: ROOT,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  if (code !== 0) throw new Error(`ended with ${signal ?? code}`);
  return '';
}

async function runSteps(
  label: string,
  steps: readonly ProofStep[],
  environment: NodeJS.ProcessEnv = {},
): Promise<StepOutcome[]> {
  mkdirSync(LOGS, { recursive: true });
  let controlPlane: ChildProcess | undefined;
  let isBroken = false;
  const startedMs = performance.now();
  const works = steps.map((step, index) => ({
    name: `${label}${step.name}`,
    work: async (): Promise<string> => {
      print(
        `\n==> [${((performance.now() - startedMs) / 1000).toFixed(0)} s] ${label}${step.name}: ${step.command}`,
      );
      if (isBroken) throw new Error('not run: the code does not compile, or breaks a rule of lint or format');
      const missing = missingFor(step);
      if (missing !== '') return `NOT RUN: this machine has no ${missing} and no way to install it`;
      if (step.needsGo && controlPlane?.exitCode === null) await once(controlPlane, 'exit');
      const log = join(LOGS, `${label.replaceAll(/\W+/g, '-')}${index}.log`);
      try {
        return await runLogged(step.command, log, environment);
      } catch (error) {
        isBroken ||= step.isNeeded === true;
        throw new Error(`${(error as Error).message}\n${failuresIn(readFileSync(log, 'utf8'))}`, {
          cause: error,
        });
      } finally {
        // dist is there from the first step on.
        if (index === 0) controlPlane = beginControlPlane(steps);
      }
    },
  }));
  try {
    return await carryOut(works);
  } finally {
    controlPlane?.kill();
  }
}

/** Runs the steps while other processes take every processor of the machine. */
async function besideBusyProcesses(steps: readonly ProofStep[]): Promise<StepOutcome[]> {
  const busy = Array.from({ length: BUSY_PROCESSES }, () =>
    spawn(process.execPath, ['-e', BUSY], { stdio: 'ignore' }),
  );
  try {
    return await runSteps('beside two busy processes: ', steps);
  } finally {
    for (const child of busy) child.kill('SIGKILL');
  }
}

function withSlowTimers(steps: readonly ProofStep[]): Promise<StepOutcome[]> {
  const slowTimers = join(ROOT, 'dist/test/kit/slow-timers.js');
  return runSteps('timers four times as slow: ', steps, { NODE_OPTIONS: `--import=${slowTimers}` });
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { ci: { type: 'boolean' }, slow: { type: 'boolean' }, turn: { type: 'string' } },
  });
  const commit = commitOf();
  const turn = values.turn ?? turnOf(commit);
  if (TURNS[turn] === undefined) {
    process.stderr.write(`--turn ${turn}: pass one of ${Object.keys(TURNS).join(', ')}\n`);
    return 1;
  }
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown CPU'}, Node ${process.version}`;
  const load = loadavg().map((each) => each.toFixed(1));
  print(
    `${values.ci ? `the turn of ${commit.slice(0, 8)} is ${turn}; ` : ''}${machine}, load ${load.join(' ')}`,
  );
  const outcomes = values.slow
    ? [...(await besideBusyProcesses(SLOW_MACHINE_STEPS)), ...(await withSlowTimers(SLOW_MACHINE_STEPS))]
    : await runSteps('', values.ci ? stepsOfCi(turn, commit) : allSteps());
  const failed = outcomes.filter(({ reason }) => reason !== undefined);
  for (const { name, reason } of failed) print(`\n==> FAILED: ${name}: ${reason}`);
  const seconds = outcomes.reduce((sum, outcome) => sum + outcome.seconds, 0);
  print(`\n${tableOf(outcomes)}\n        ${seconds.toFixed(0)} s in all, after the installation; ${machine}`);
  writeFileSync(
    join(LOGS, 'outcomes.json'),
    JSON.stringify({ machine, turn, commit, outcomes }, undefined, 1),
  );
  print(`${outcomes.length - failed.length} passed, ${failed.length} failed`);
  return failed.length === 0 ? 0 : 1;
}

process.exitCode = await main();
