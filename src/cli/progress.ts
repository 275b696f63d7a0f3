/** The live line of a long command: a bar on a terminal, a plain line each second elsewhere. */
import { SingleBar } from 'cli-progress';
import { interruptedBy } from './signals.ts';

export interface Progress {
  /** Prints one line about the current step. */
  say(line: string): void;
  /** Begins the work, which is done when `update` receives this total. */
  begin(total: number): void;
  /** @param text the progress as text */
  update(done: number, text: string): void;
  end(): void;
}

const PLAIN_INTERVAL_MS = 1000;
const SHOW_INTERVAL_MS = 200;

/** @param isQuiet true with --json: then a stream without a terminal receives nothing */
export function progressOn(stream: NodeJS.WriteStream, isQuiet: boolean): Progress {
  if (stream.isTTY) return new BarProgress(stream);
  const write = (line: string): void => void (isQuiet || stream.write(`${line}\n`));
  return new PlainProgress(write, () => performance.now());
}

/**
 * Shows the progress of the work until it is done. Rejects when the command is interrupted.
 *
 * @param show called at regular intervals; it updates the progress
 */
export async function showing<R>(
  progress: Progress,
  total: number,
  signal: AbortSignal,
  show: () => void,
  work: () => Promise<R>,
): Promise<R> {
  progress.begin(total);
  const timer = setInterval(show, SHOW_INTERVAL_MS);
  try {
    return await Promise.race([work(), interruptedBy(signal)]);
  } finally {
    clearInterval(timer);
    progress.end();
  }
}

export class PlainProgress implements Progress {
  readonly #write: (line: string) => void;
  readonly #now: () => number;
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(write: (line: string) => void, now: () => number) {
    this.#write = write;
    this.#now = now;
  }

  say(line: string): void {
    this.#write(line);
  }

  begin(): void {
    this.#lastMs = this.#now();
  }

  update(_done: number, text: string): void {
    const now = this.#now();
    if (now - this.#lastMs < PLAIN_INTERVAL_MS) return;
    this.#lastMs = now;
    this.#write(text);
  }

  end(): void {
    // Every line is already complete.
  }
}

class BarProgress implements Progress {
  readonly #stream: NodeJS.WriteStream;
  #bar: SingleBar | undefined;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
  }

  say(line: string): void {
    this.#stream.write(`${line}\n`);
  }

  begin(total: number): void {
    this.#bar = new SingleBar({
      stream: this.#stream,
      format: '{bar} {percentage} %  {text}',
      barsize: 30,
      hideCursor: true,
      clearOnComplete: true,
    });
    this.#bar.start(total, 0, { text: '' });
  }

  update(done: number, text: string): void {
    this.#bar?.update(done, { text });
  }

  end(): void {
    this.#bar?.stop();
    this.#bar = undefined;
  }
}
