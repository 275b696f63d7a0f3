/**
 * The only file of the commands that writes to a terminal. It escapes everything, because text of servers, objects and
 * files could control the terminal.
 */
import { escapeControls, escapeJsonControls } from '../../../base/printable.ts';

/** Columns of a terminal without a known size. */
const COLUMNS = 80;

type Output = Pick<NodeJS.WriteStream, 'write'> & Partial<Pick<NodeJS.WriteStream, 'hasColors' | 'isTTY'>>;

/** Codes of a colour. */
const COLOURS = { red: 31, green: 32, yellow: 33 } as const;
const DEFAULT_COLOUR = 39;
export type Colour = keyof typeof COLOURS;

/** Prints a line; line breaks in the text are also escaped. */
export function printLine(line: string, output: Output = process.stdout): void {
  output.write(`${escapeControls(line)}\n`);
}

/** Prints text of several lines. @param colour of the first word, with its colon, on a terminal that shows colours */
export function printText(text: string, output: Output = process.stdout, colour?: Colour): void {
  const [first = '', ...others] = text.replace(/\r?\n$/, '').split(/\r?\n/);
  // With NO_COLOR, FORCE_COLOR=0 and TERM=dumb a terminal has no colours; Deno's pipes say that they have some.
  const isColoured = output.isTTY === true && output.hasColors?.() === true;
  const code = colour !== undefined && isColoured ? COLOURS[colour] : DEFAULT_COLOUR;
  if (code === DEFAULT_COLOUR) printLine(first, output);
  else {
    const paint = (word: string): string => `\u001B[${code}m${word}\u001B[${DEFAULT_COLOUR}m`;
    output.write(`${escapeControls(first).replace(/^[^: ]+:?/, paint)}\n`);
  }
  for (const line of others) printLine(line, output);
}

/** Returns the columns of a terminal; Infinity for a pipe or a file, where lines are not wrapped. */
export function columnsOf(output: Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>): number {
  return output.isTTY ? output.columns || COLUMNS : Infinity;
}

/** Returns whether lines can be drawn again in their place. */
export function isScreen({ isTTY }: Pick<NodeJS.WriteStream, 'isTTY'>): boolean {
  return isTTY && process.env['TERM'] !== 'dumb';
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
