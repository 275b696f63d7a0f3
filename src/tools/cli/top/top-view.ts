/** The output of `kubeloom top`: a screen on a terminal, elsewhere a line each second. */
import { emitKeypressEvents } from 'node:readline';
import type { Key } from 'node:readline';
import { messageOf } from '../../../base/errors.ts';
import type { StatsSnapshot } from '../../../metrics/index.ts';
import type { Interruption } from '../signals.ts';
import { frame, plainLine } from './top-frame.ts';
import { screenOn } from '../terminal/screen.ts';
import { controlTerminal, isScreen, printJson, printLine } from '../terminal/output.ts';
import { QUIT_KEY, initialTop, stepTop } from './top-state.ts';
import type { TopInput } from './top-state.ts';

export interface TopView extends Disposable {
  show(snapshot: StatsSnapshot): void;
  /** Reports that there are no newer figures. A view that cannot wait for others throws the error. */
  lose(error: unknown): void;
}

export function topView(title: string, isJson: boolean, interruption: Interruption): TopView {
  if (isJson) return linesView((snapshot) => printJson(JSON.stringify(snapshot)));
  if (isScreen(process.stdout)) return screenView(title, interruption);
  let state = initialTop(title);
  return linesView((snapshot) =>
    printLine(plainLine((state = stepTop(state, { type: 'snapshot', snapshot })))),
  );
}

function linesView(show: (snapshot: StatsSnapshot) => void): TopView {
  return {
    show,
    lose: (error) => {
      throw error;
    },
    [Symbol.dispose]: () => undefined,
  };
}

function screenView(title: string, interruption: Interruption): TopView {
  const { stdout, stdin } = process;
  const screen = screenOn(stdout);
  let state = initialTop(title);
  const draw = (): void => {
    // log-update ends each frame with a line break, which would move a frame of all rows.
    screen.draw(frame(state, stdout.columns, stdout.rows - 1));
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
    screen.keep();
    controlTerminal(stdout, 'clearScreen');
    draw();
  };
  const leave = (): void => controlTerminal(stdout, 'leaveScreen');
  controlTerminal(stdout, 'enterScreen', 'clearScreen');
  // Runs also when a second signal ends the process at once.
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
      screen.keep();
      process.off('exit', leave);
      leave();
    },
  };
}
