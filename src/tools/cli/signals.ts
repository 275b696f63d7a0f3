/**
 * The end of a command from outside: SIGINT, SIGTERM, or a closed output. The library installs no signal handlers; only
 * the command line does, here.
 */
import { onAbort } from '../../base/on-abort.ts';
import { printLine } from './terminal/output.ts';

export interface Interruption {
  readonly signal: AbortSignal;
  /** The exit code that a shell reports for a process that ended by the signal; undefined before any. */
  readonly exitCode: number | undefined;
  /** Ends the command from within. */
  stop(): void;
  /** Removes the handlers. */
  [Symbol.dispose](): void;
}

/**
 * Ignores that the reader of the output exited, as `head` does after the first lines: the rest is not needed. A command
 * that runs until it is interrupted ends in that case; see below.
 */
export function allowClosedOutput(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
}

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

export function listenForInterruption(): Interruption {
  const controller = new AbortController();
  let exitCode: number | undefined;
  const onSignal = (name: keyof typeof EXIT_CODES): void => {
    // A second signal ends the process at once.
    if (exitCode !== undefined) process.exit(EXIT_CODES[name]);
    exitCode = EXIT_CODES[name];
    controller.abort();
  };
  const onOutputClosed = (): void => controller.abort();
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  process.stdout.on('error', onOutputClosed);
  return {
    signal: controller.signal,
    get exitCode(): number | undefined {
      return exitCode;
    },
    stop: () => controller.abort(),
    [Symbol.dispose]: () => {
      process.off('SIGINT', onSignal);
      process.off('SIGTERM', onSignal);
      process.stdout.off('error', onOutputClosed);
    },
  };
}

/**
 * Runs a command until it ends or is interrupted, and sets the exit code.
 *
 * @param command resolves with the exit code. A failure after an interruption is expected: the interruption also ends
 *   servers and processes
 */
export async function runInterruptibly(command: (signal: AbortSignal) => Promise<number>): Promise<void> {
  using interruption = listenForInterruption();
  try {
    const code = await command(interruption.signal);
    process.exitCode = interruption.exitCode ?? code;
  } catch (error) {
    if (!interruption.signal.aborted) throw error;
    printLine('interrupted', process.stderr);
    process.exitCode = interruption.exitCode ?? EXIT_CODES.SIGINT;
  }
}

/** Never resolves; rejects when the command is interrupted. */
export function interruptedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    onAbort(signal, () => reject(signal.reason as Error));
  });
}
