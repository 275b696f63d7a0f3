/** Lines that are drawn again in their place, and lines above them, all escaped. */
import { createLogUpdate } from 'log-update';
import { escapeControls } from '../../../base/printable.ts';
import { printLine } from './output.ts';

export interface Screen extends Disposable {
  draw(lines: readonly string[]): void;
  clear(): void;
  /** Leaves the lines where they are: the next lines are drawn below. */
  keep(): void;
  printLine(line: string): void;
}

export function screenOn(stream: NodeJS.WriteStream): Screen {
  const update = createLogUpdate(stream);
  return {
    draw: (lines) => update(lines.map(escapeControls).join('\n')),
    clear: () => update.clear(),
    keep: () => update.done(),
    printLine: (line) => {
      update.clear();
      printLine(line, stream);
    },
    [Symbol.dispose]: () => {
      update.clear();
      update.done();
    },
  };
}
