/**
 * Text in columns of a terminal. A wide character, such as a Chinese character, takes two columns, a combining
 * character none.
 */
import stringWidth from 'string-width';

const CUT = '…';
const CHARACTERS = new Intl.Segmenter();

/** ASCII and the other characters of frames: the fast path, because a frame contains thousands of them. */
const NARROW = /^[ -~·µ–…↑↓▁-█]*$/;

export function widthOf(text: string): number {
  return NARROW.test(text) ? text.length : stringWidth(text);
}

/** Returns the text with at most this width; an ellipsis replaces a cut end. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  return width < 1 ? '' : kept(charactersOf(text), width - 1).join('') + CUT;
}

/** Returns the text with at most this width; an ellipsis replaces a cut beginning. */
export function cutStart(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  return width < 1
    ? ''
    : CUT +
        kept(charactersOf(text).reverse(), width - 1)
          .reverse()
          .join('');
}

/** Returns the text with exactly this width: the beginning on the left, or the end on the right. */
export function fitted(text: string, width: number, align: 'left' | 'right'): string {
  const shown = align === 'left' ? cut(text, width) : cutStart(text, width);
  const blanks = ' '.repeat(Math.max(0, width - widthOf(shown)));
  return align === 'left' ? shown + blanks : blanks + shown;
}

/** Returns as few lines as these cells need side by side. */
export function flow(cells: readonly string[], gap: number, width: number): string[] {
  const lines: string[] = [];
  for (const cell of cells) {
    const last = lines.at(-1);
    if (last !== undefined && widthOf(last) + gap + widthOf(cell) <= width)
      lines[lines.length - 1] = last + ' '.repeat(gap) + cell;
    else lines.push(cut(cell, width));
  }
  return lines;
}

/** Returns the text in lines of at most this width, which end between words; a longer word has a line to itself. */
export function wrapped(text: string, width: number, indent = ''): string[] {
  if (widthOf(text) <= width) return [text];
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/(?<=\S)(?= )/)) {
    if (line !== '' && widthOf(line) + widthOf(word) > width) {
      lines.push(line);
      line = indent + word.trimStart();
    } else line += word;
  }
  return [...lines, line];
}

function charactersOf(text: string): string[] {
  return NARROW.test(text)
    ? Array.from(text)
    : Array.from(CHARACTERS.segment(text), ({ segment }) => segment);
}

/** Returns the first characters that fit. */
function kept(characters: readonly string[], width: number): string[] {
  let used = 0;
  const end = characters.findIndex((character) => (used += widthOf(character)) > width);
  return characters.slice(0, end === -1 ? undefined : end);
}
