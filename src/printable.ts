/**
 * Text from elsewhere (objects, servers, file names) on its way to a person: control characters must not
 * reach a terminal or a log, or an object's field could move the cursor, recolour or rewrite what was printed
 * before, turn the direction of the line, or look like a line of its own.
 */

/** C0 and C1 controls, DEL, and the line, paragraph and direction marks of Unicode. */
const UNPRINTABLE = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

export function escapeControls(text: string): string {
  return text.replace(UNPRINTABLE, (character) => {
    if (character === '\n') return '\\n';
    if (character === '\t') return '\\t';
    if (character === '\r') return '\\r';
    const code = character.charCodeAt(0);
    return code < 0x100
      ? `\\x${code.toString(16).padStart(2, '0')}`
      : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}
