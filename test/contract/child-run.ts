/** Runs compiled test files of a configuration in a child process, and reads the results. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { ConfigurationName } from './configuration-names.ts';
import type { TestLine } from './reporter.ts';

export interface RunOptions {
  readonly files: readonly string[];
  readonly configuration: ConfigurationName;
  readonly codec: string;
  /** Runs only tests with a matching title. */
  readonly pattern?: string;
  /** Limit for a test. */
  readonly testTimeoutMs: number;
  /** Limit for the whole run; then the processes are killed. */
  readonly timeoutMs: number;
}

const REPORTER = fileURLToPath(new URL('./reporter.js', import.meta.url));

export async function runTests(options: RunOptions): Promise<TestLine[]> {
  const args = [
    '--test',
    '--test-concurrency=2',
    '--test-force-exit',
    `--test-reporter=${REPORTER}`,
    '--test-reporter-destination=stdout',
    `--test-timeout=${options.testTimeoutMs}`,
    ...(options.pattern ? [`--test-name-pattern=${options.pattern}`] : []),
    ...options.files,
  ];
  const { NODE_TEST_CONTEXT: _ours, ...environment } = process.env;
  const child = spawn(process.execPath, args, {
    env: { ...environment, KUBELOOM_CONTRACT: options.configuration, KUBELOOM_CODEC: options.codec },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    killGroup(child.pid);
  }, options.timeoutMs);
  const status = await new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.on('close', (code, signal) => resolve(code ?? signal));
  });
  clearTimeout(timer);
  killGroup(child.pid);
  const lines = output
    .split('\n')
    .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as TestLine] : []));
  // The status also counts: the line of a failure may be lost when the process ends.
  const hasFailed = isLate || (status !== 0 && lines.every(({ isPassed }) => isPassed));
  if (hasFailed) {
    const error = isLate ? 'timed out' : `ended with ${String(status)} without a failed test`;
    lines.push({ title: `the run of ${options.files.length} files`, isPassed: false, error });
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
