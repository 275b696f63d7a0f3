/** Runs compiled test files of a configuration in a child process, and reads the results. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { HANG_MS } from '../kit/hang.ts';
import type { RunName } from './configuration-names.ts';
import type { ReportedLine, TestLine } from './reporter.ts';
import { TURNS_MAX } from './standstill.ts';

export interface RunOptions {
  readonly files: readonly string[];
  readonly run: RunName;
  /** Runs only tests with a matching title. */
  readonly pattern?: string;
  /** Limit for a file that hangs; the whole run has twice as long. Default: for all tests of a slow machine. */
  readonly limitMs?: number;
  /** Turns of the event loop after which a file stands still. Default: no limit. */
  readonly turnsMax?: number;
}

export interface TestRun {
  readonly tests: readonly TestLine[];
  /** Turns of the event loop in the file with the most. */
  readonly turns: number;
}

const REPORTER = fileURLToPath(new URL('./reporter.js', import.meta.url));
const STANDSTILL = new URL('./standstill.js', import.meta.url).href;
const LIMIT_MS = 5 * HANG_MS;

export async function runTests({
  files,
  run,
  pattern,
  limitMs = LIMIT_MS,
  turnsMax = Infinity,
}: RunOptions): Promise<TestRun> {
  const args = [
    '--test',
    '--test-concurrency=2',
    '--test-force-exit',
    `--test-reporter=${REPORTER}`,
    '--test-reporter-destination=stdout',
    `--test-timeout=${limitMs}`,
    `--import=${STANDSTILL}`,
    ...(pattern ? [`--test-name-pattern=${pattern}`] : []),
    ...files,
  ];
  const { NODE_TEST_CONTEXT: _ours, ...environment } = process.env;
  const child = spawn(process.execPath, args, {
    env: { ...environment, KUBELOOM_CONTRACT: run, [TURNS_MAX]: `${turnsMax}` },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    killGroup(child.pid);
  }, 2 * limitMs);
  const status = await new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.on('close', (code, signal) => resolve(code ?? signal));
  });
  clearTimeout(timer);
  killGroup(child.pid);
  const lines = output
    .split('\n')
    .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as ReportedLine] : []));
  const turns = Math.max(...lines.map((line) => ('turns' in line ? line.turns : 0)));
  const tests = lines
    .filter((line) => 'title' in line)
    // A file whose process ended before its first test counts as a test that passed.
    .filter(({ title, isPassed }) => !isPassed || !files.includes(title));
  const title = `the run of ${files.length} files`;
  const failure = { title, isPassed: false, isStill: false, isTimedOut: isLate };
  // The status also counts: the line of a failure may be lost when the process ends.
  const isSilent = status !== 0 && tests.every(({ isPassed }) => isPassed);
  if (isLate) tests.push({ ...failure, error: 'timed out' });
  else if (isSilent) tests.push({ ...failure, error: `ended with ${String(status)} without a failed test` });
  return { tests, turns };
}

/** Kills the runner, the processes of the test files, and their children. */
function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All processes have already ended.
  }
}
