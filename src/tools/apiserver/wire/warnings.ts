/** The header Warning, whose text is UTF-8. Node takes the bytes of a header as Latin-1 characters. */

/** Returns the value of a header for a warning; undefined for a text with control characters, which a cluster does not send. */
function warningHeader(text: string): string | undefined {
  if (/\p{Cc}/u.test(text)) return undefined;
  return Buffer.from(`299 - "${text.replaceAll(/["\\]/g, '\\$&')}"`).toString('latin1');
}

/** Limits of a cluster, in characters: beyond the first, each warning is cut to the second. */
const WARNINGS_LENGTH_MAX = 4096;
const WARNING_LENGTH_MAX = 256;

/** Returns the headers of further warnings of an answer whose warnings already have some length. */
export function warningHeaders(texts: readonly string[], writtenLength: number): string[] {
  let length = writtenLength;
  const total = texts.reduce((sum, text) => sum + text.length, length);
  return texts.flatMap((text) => {
    const shown = total > WARNINGS_LENGTH_MAX ? text.slice(0, WARNING_LENGTH_MAX) : text;
    length += shown.length;
    const header = length > WARNINGS_LENGTH_MAX ? undefined : warningHeader(shown);
    return header === undefined ? [] : [header];
  });
}
