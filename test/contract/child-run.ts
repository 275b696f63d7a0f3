/** Runs compiled test files of a configuration in a child process, and reads the results. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { HANG_MS } from '../kit/hang.ts';
import type { RunName } from './configuration-names.ts';
import type { TestLine } from './reporter.ts';

export interface RunOptions {
  readonly files: readonly string[];
  readonly run: RunName;
  /** Runs only tests with a matching title. */
  readonly pattern?: string;
  /** Limit for a file that hangs; the whole run has twice as long. Default: for all tests of a slow machine. */
  readonly limitMs?: number;
}

const REPORTER = fileURLToPath(new URL('./reporter.js', import.meta.url));
const LIMIT_MS = 5 * HANG_MS;

export async function runTests({ files, run, pattern, limitMs = LIMIT_MS }: RunOptions): Promise<TestLine[]> {
  const args = [
    '--test',
    '--test-concurrency=2',
    '--test-force-exit',
    `--test-reporter=${REPORTER}`,
    '--test-reporter-destination=stdout',
    `--test-timeout=${limitMs}`,
    ...(pattern ? [`--test-name-pattern=${pattern}`] : []),
    ...files,
  ];
  const { NODE_TEST_CONTEXT: _ours, ...environment } = process.env;
  const child = spawn(process.execPath, args, {
    env: { ...environment, KUBELOOM_CONTRACT: run },
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
    .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as TestLine] : []))
    // A file whose process ended before its first test counts as a test that passed.
    .filter(({ title, isPassed }) => !isPassed || !files.includes(title));
  const title = `the run of ${files.length} files`;
  if (isLate) lines.push({ title, isPassed: false, isTimedOut: true, error: 'timed out' });
  // The status also counts: the line of a failure may be lost when the process ends.
  else if (status !== 0 && lines.every(({ isPassed }) => isPassed)) {
    const error = `ended with ${String(status)} without a failed test`;
    lines.push({ title, isPassed: false, isTimedOut: false, error });
  }
  return lines;
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
