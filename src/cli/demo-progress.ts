/** The live line of the demo: a bar on a terminal, a plain line a second elsewhere; always on stderr. */
import { SingleBar } from 'cli-progress';
import { number } from './demo-report.ts';

export interface ProgressState {
  /** Undefined when the server does not say. */
  readonly sent: number | undefined;
  readonly prompt: number;
  readonly slow: number;
}

export interface Progress {
  /** One line about what is happening now. */
  say(line: string): void;
  /** The load begins, with so many events intended. */
  begin(total: number): void;
  update(state: ProgressState): void;
  end(): void;
}

const PLAIN_INTERVAL_MS = 1000;

/** Says nothing: with --json and no terminal. */
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

  update(state: ProgressState): void {
    const now = this.#now();
    if (now - this.#lastMs < PLAIN_INTERVAL_MS) return;
    this.#lastMs = now;
    this.#write(stateText(state));
  }

  end(): void {
    // Every line is complete by itself.
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

  update(state: ProgressState): void {
    // Done is what the slowest has: the bar ends when everything was delivered.
    this.#bar?.update(state.slow, { text: stateText(state) });
  }

  end(): void {
    this.#bar?.stop();
    this.#bar = undefined;
  }
}

function stateText({ sent, prompt, slow }: ProgressState): string {
  const issued = sent === undefined ? '' : `sent ${number(sent)}, `;
  return `${issued}prompt handler ${number(prompt)}, slow handler ${number(slow)}`;
}
