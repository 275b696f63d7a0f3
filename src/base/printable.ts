/**
 * Text from objects, servers and file names, escaped for messages. Control characters must not reach a terminal or a
 * log: an object's field could move the cursor, recolour or overwrite earlier output, change the direction of the line,
 * or look like a separate line.
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

/** Returns the same JSON as a single line: line breaks and tabs are between tokens only, other controls in texts only. */
export function escapeJsonControls(json: string): string {
  return json
    .replace(/[\r\n\t]+/g, ' ')
    .trim()
    .replace(UNPRINTABLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Returns the stack of an error with the message on one line, and each frame on a line. */
export function escapeStack(stack: string, message: string): string {
  const framesStart = stack.includes(message) ? stack.indexOf(message) + message.length : 0;
  const frames = stack.slice(framesStart).split('\n').map(escapeControls);
  return escapeControls(stack.slice(0, framesStart)) + frames.join('\n');
}
