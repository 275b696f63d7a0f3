/** The live line of a long command: a bar on a terminal, a plain line each second elsewhere. */
import { interruptedBy } from '../signals.ts';
import { screenOn } from './screen.ts';
import type { Screen } from './screen.ts';
import { widthOf, wrapped } from './cells.ts';
import { columnsOf, isScreen, printLine } from './output.ts';

export interface Progress {
  /** Prints a line about the current step. */
  say(line: string): void;
  /** Begins the work, which is done when `update` receives this total. */
  begin(total: number): void;
  /** @param text the progress as text */
  update(done: number, text: string): void;
  end(): void;
}

const PLAIN_INTERVAL_MS = 1000;
const SHOW_INTERVAL_MS = 200;

/** @param isQuiet with --json: a stream without a terminal receives no output */
export function progressOn(stream: NodeJS.WriteStream, isQuiet: boolean): Progress {
  if (isScreen(stream)) return new BarProgress(stream);
  const write = (line: string): void => {
    if (!isQuiet) printLine(line, stream);
  };
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

const BAR_CHARACTERS = 30;

class BarProgress implements Progress {
  readonly #stream: NodeJS.WriteStream;
  readonly #screen: Screen;
  #total = 1;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
    this.#screen = screenOn(stream);
  }

  say(line: string): void {
    // The bar is drawn again below the line.
    this.#screen.printLine(line);
  }

  begin(total: number): void {
    this.#total = total;
    this.update(0, '');
  }

  update(done: number, text: string): void {
    this.#screen.draw(barLines(Math.min(1, done / this.#total), text, columnsOf(this.#stream)));
  }

  end(): void {
    this.#screen[Symbol.dispose]();
  }
}

/** Returns the bar and its text: in one line, or the text below when the terminal is too narrow. */
export function barLines(fraction: number, text: string, columns: number): string[] {
  const line = barLine(fraction, text);
  return widthOf(line) <= columns ? [line] : [barLine(fraction, ''), ...wrapped(text, columns)];
}

/** Returns a line such as `███████░░░░░ 58 %  11,600 events`. */
export function barLine(fraction: number, text: string): string {
  const full = Math.floor(fraction * BAR_CHARACTERS);
  const bar = '█'.repeat(full) + '░'.repeat(BAR_CHARACTERS - full);
  return `${bar} ${Math.floor(fraction * 100)} %  ${text}`.trimEnd();
}
