/** The live view of a load test: on a terminal a frame that is drawn again each second, elsewhere a line a second. */
import type { LiveState } from '../../loadtest/live.ts';
import { STATES_KEPT, frame } from './loadtest-frame.ts';
import { PlainProgress } from '../terminal/progress.ts';
import { number } from '../terminal/report.ts';
import { screenOn } from '../terminal/screen.ts';
import type { Screen } from '../terminal/screen.ts';
import { columnsOf, isScreen, printLine } from '../terminal/output.ts';

export interface LoadTestView extends Disposable {
  /** Prints a line about a step. */
  say(line: string): void;
  show(state: LiveState): void;
}

/** @param isQuiet with `--json`: a stream without a terminal receives no output */
export function loadTestView(stream: NodeJS.WriteStream, title: string, isQuiet: boolean): LoadTestView {
  return isScreen(stream) ? new FrameView(stream, title) : plainView(stream, isQuiet);
}

function plainView(stream: NodeJS.WriteStream, isQuiet: boolean): LoadTestView {
  const write = (line: string): void => {
    if (!isQuiet) printLine(line, stream);
  };
  const progress = new PlainProgress(write, () => performance.now());
  progress.begin();
  return {
    say: (line) => progress.say(line),
    show: (state) => progress.update(0, plainText(state)),
    [Symbol.dispose]: () => progress.end(),
  };
}

/** steady: 1,500 confirmed, 3,000 delivered to 2 of 2 watchers */
export function plainText({ phase, writes, watchers }: LiveState): string {
  const delivered = `${number(watchers.delivered)} delivered to ${watchers.synced} of ${watchers.count} watchers`;
  return `${phase.name}: ${number(writes.answered)} confirmed, ${delivered}`;
}

const DEFAULT_ROWS = 24;

class FrameView implements LoadTestView {
  readonly #stream: NodeJS.WriteStream;
  readonly #screen: Screen;
  readonly #title: string;
  #states: readonly LiveState[] = [];

  constructor(stream: NodeJS.WriteStream, title: string) {
    this.#stream = stream;
    this.#screen = screenOn(stream);
    this.#title = title;
  }

  say(line: string): void {
    // The frame is drawn again below the line.
    this.#screen.printLine(line);
    this.#draw();
  }

  show(state: LiveState): void {
    this.#states = [...this.#states, state].slice(-STATES_KEPT);
    this.#draw();
  }

  [Symbol.dispose](): void {
    this.#screen[Symbol.dispose]();
  }

  #draw(): void {
    if (this.#states.length === 0) return;
    const state = { title: this.#title, states: this.#states };
    // A terminal of unknown size reports 0; the last row is for the cursor.
    const columns = columnsOf(this.#stream);
    const rows = (this.#stream.rows || DEFAULT_ROWS) - 1;
    this.#screen.draw(frame(state, columns, rows));
  }
}
