/** The live line of a long command: a bar on a terminal, a plain line each second elsewhere. */
import { SingleBar } from 'cli-progress';

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

/** Prints nothing: with --json and without a terminal. */
export const silent: Progress = {
  say: () => undefined,
  begin: () => undefined,
  update: () => undefined,
  end: () => undefined,
};

export function progressOn(stream: NodeJS.WriteStream, isQuiet: boolean): Progress {
  if (stream.isTTY) return new BarProgress(stream);
  return isQuiet
    ? silent
    : new PlainProgress(
        (line) => stream.write(`${line}\n`),
        () => performance.now(),
      );
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
