/**
 * The end of a command from outside: SIGINT, SIGTERM, or nobody reads the output any more. The library
 * installs no signal handlers; the command line does, here.
 */
import { KubeloomError } from '../errors.ts';

export interface Interruption {
  readonly signal: AbortSignal;
  /** Ends the command from within. */
  stop(): void;
  /** Takes the handlers away again. */
  [Symbol.dispose](): void;
}

/** What a shell reports for a process that died of SIGINT. */
const EXIT_INTERRUPTED = 130;

export function listenForInterruption(): Interruption {
  const controller = new AbortController();
  const onSignal = (): void => {
    // Somebody who asks twice does not want to wait for a clean end.
    if (controller.signal.aborted) process.exit(EXIT_INTERRUPTED);
    controller.abort();
  };
  const onOutputError = (error: NodeJS.ErrnoException): void => {
    if (error.code !== 'EPIPE') throw error;
    controller.abort();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  process.stdout.on('error', onOutputError);
  return {
    signal: controller.signal,
    stop: () => controller.abort(),
    [Symbol.dispose]: () => {
      process.off('SIGINT', onSignal);
      process.off('SIGTERM', onSignal);
    },
  };
}

/** Never resolves; rejects when the command is told to end. */
export function interruptedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const give = (): void =>
      reject(new KubeloomError('ERR_KUBELOOM_INTERRUPTED', 'the command was interrupted'));
    if (signal.aborted) give();
    else signal.addEventListener('abort', give, { once: true });
  });
}
