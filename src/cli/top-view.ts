/** The output of `kubeloom top`: a screen on a terminal, elsewhere a line each second. */
import { emitKeypressEvents } from 'node:readline';
import type { Key } from 'node:readline';
import { createLogUpdate } from 'log-update';
import { messageOf } from '../base/errors.ts';
import type { StatsSnapshot } from '../base/metrics/snapshot.ts';
import type { Interruption } from './signals.ts';
import { frame, plainLine } from './top-frame.ts';
import { QUIT_KEY, initialTop, stepTop } from './top-state.ts';
import type { TopInput } from './top-state.ts';

export interface TopView extends Disposable {
  show(snapshot: StatsSnapshot): void;
  /** Reports that there are no newer figures. A view that cannot wait for others throws the error. */
  lose(error: unknown): void;
}

/** Lines of text on the terminal are left alone: the frames are on its other screen, which does not scroll. */
const ENTER_SCREEN = '\u001B[?1049h';
const LEAVE_SCREEN = '\u001B[?1049l';
const CLEAR_SCREEN = '\u001B[2J\u001B[H';

export function topView(title: string, isJson: boolean, interruption: Interruption): TopView {
  if (isJson) return linesView((snapshot) => JSON.stringify(snapshot));
  if (process.stdout.isTTY) return screenView(title, interruption);
  let state = initialTop(title);
  return linesView((snapshot) => plainLine((state = stepTop(state, { type: 'snapshot', snapshot }))));
}

function linesView(lineOf: (snapshot: StatsSnapshot) => string): TopView {
  return {
    show: (snapshot) => void process.stdout.write(`${lineOf(snapshot)}\n`),
    lose: (error) => {
      throw error;
    },
    [Symbol.dispose]: () => undefined,
  };
}

function screenView(title: string, interruption: Interruption): TopView {
  const { stdout, stdin } = process;
  const screen = createLogUpdate(stdout);
  let state = initialTop(title);
  const draw = (): void => {
    // log-update ends each frame with a line break, which would move a frame of all rows.
    const lines = frame(state, stdout.columns, stdout.rows - 1);
    screen(lines.join('\n'));
  };
  const step = (input: TopInput): void => {
    state = stepTop(state, input);
    draw();
  };
  const onKey = (_text: string | undefined, { name = '', ctrl }: Key): void => {
    if (name === QUIT_KEY || (name === 'c' && ctrl === true)) interruption.stop();
    else step({ type: 'key', key: name });
  };
  const onResize = (): void => {
    screen.done();
    stdout.write(CLEAR_SCREEN);
    draw();
  };
  const leave = (): void => void stdout.write(LEAVE_SCREEN);
  stdout.write(ENTER_SCREEN + CLEAR_SCREEN);
  // Also when a second signal ends the process at once.
  process.once('exit', leave);
  emitKeypressEvents(stdin);
  if (stdin.isTTY) stdin.setRawMode(true);
  stdin.on('keypress', onKey);
  stdout.on('resize', onResize);
  return {
    show: (snapshot) => step({ type: 'snapshot', snapshot }),
    lose: (error) => step({ type: 'lost', reason: messageOf(error) }),
    [Symbol.dispose]: () => {
      stdout.off('resize', onResize);
      stdin.off('keypress', onKey);
      if (stdin.isTTY) stdin.setRawMode(false);
      stdin.pause();
      screen.done();
      process.off('exit', leave);
      leave();
    },
  };
}
