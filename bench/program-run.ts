/** Runs a client program on a task and reads the line that it prints. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Outcome, Task } from './task.ts';

/** The command line before the task. */
export type Command = readonly [file: string, ...args: string[]];

/** The client's measurements, or why there are none. */
export type Ended = { readonly outcome: Outcome } | { readonly error: string };

const KILLED_MS = 180_000;
const ERROR_CHARACTERS = 300;

/** The outcome of a program that crashes or hangs is an error; this function never throws. */
export async function runProgramOn(command: Command, task: Task, oneCoreHeapMiB?: number): Promise<Ended> {
  const isSmall = oneCoreHeapMiB !== undefined;
  const [file, ...args] = isSmall ? onOneCore(command) : command;
  const child = spawn(file, [...args, JSON.stringify(task)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // Borrow checks and warnings of libraries are off.
    env: {
      ...process.env,
      NODE_ENV: 'production',
      ...(isSmall ? { NODE_OPTIONS: `--max-old-space-size=${oneCoreHeapMiB}` } : {}),
    },
  });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  let isLate = false;
  const late = setTimeout(() => {
    isLate = true;
    child.kill('SIGKILL');
  }, KILLED_MS);
  try {
    const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
    const outcome = readOutcome(output);
    if (outcome !== undefined) return outcome.error === undefined ? { outcome } : { error: outcome.error };
    if (isLate) return { error: `not done after ${KILLED_MS / 1000} s` };
    return { error: `ended with ${code ?? signal}: ${lastOf(errors)}` };
  } catch (error) {
    return { error: String(error) };
  } finally {
    clearTimeout(late);
  }
}

/** Linux's `taskset`: a control group with a quota takes privileges. */
function onOneCore(command: Command): Command {
  return ['taskset', '-c', '0', ...command];
}

/** Returns the last line that is JSON: libraries may print other lines before it. */
export function readOutcome(output: string): Outcome | undefined {
  const line = output.trimEnd().split('\n').at(-1) ?? '';
  try {
    const outcome = JSON.parse(line) as Partial<Outcome>;
    return typeof outcome.client === 'string' ? (outcome as Outcome) : undefined;
  } catch {
    return undefined;
  }
}

function lastOf(errors: string): string {
  const text = errors.trim().replaceAll(/\s+/g, ' ');
  return text.length > ERROR_CHARACTERS ? `…${text.slice(-ERROR_CHARACTERS)}` : text;
}
