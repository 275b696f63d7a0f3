/** The header Warning, whose text is UTF-8. Node takes the bytes of a header as Latin-1 characters. */

/** Returns the value of a header for a warning; undefined for a text with control characters, which a cluster does not send. */
export function warningHeader(text: string): string | undefined {
  if (/\p{Cc}/u.test(text)) return undefined;
  return Buffer.from(`299 - "${text.replaceAll(/["\\]/g, '\\$&')}"`).toString('latin1');
}
