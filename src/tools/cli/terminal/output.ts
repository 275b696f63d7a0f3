/**
 * The only file of the commands that writes to a terminal. It escapes everything, because text of servers, objects and
 * files could control the terminal.
 */
import { escapeControls, escapeJsonControls } from '../../../base/printable.ts';

type Output = Pick<NodeJS.WriteStream, 'write'>;

/** Prints a line; line breaks in the text are also escaped. */
export function printLine(line: string, output: Output = process.stdout): void {
  output.write(`${escapeControls(line)}\n`);
}

/** Prints text of several lines. */
export function printText(text: string, output: Output = process.stdout): void {
  for (const line of text.replace(/\r?\n$/, '').split(/\r?\n/)) printLine(line, output);
}

/** Prints JSON in a single line. */
export function printJson(json: string, output: Output = process.stdout): void {
  output.write(`${escapeJsonControls(json)}\n`);
}

const CONTROLS = {
  /** The alternate screen of a terminal, which does not scroll; the text on the main screen stays. */
  enterScreen: '\u001B[?1049h',
  leaveScreen: '\u001B[?1049l',
  clearScreen: '\u001B[2J\u001B[H',
} as const;

export function controlTerminal(stream: Output, ...commands: readonly (keyof typeof CONTROLS)[]): void {
  stream.write(commands.map((command) => CONTROLS[command]).join(''));
}
