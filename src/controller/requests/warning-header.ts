/**
 * The `Warning` header of an apiserver's answer: deprecated versions of an API, unknown fields, ignored settings. RFC 7234
 * allows several warnings in a header, each `299 - "text"`, perhaps with a date; the text is a quoted string with escapes.
 */
import { escapeControls } from '../../base/printable.ts';

/** The code of a persistent warning: apiservers send no other. */
const PERSISTENT = '299';
const WARNING = /\s*(\d{3}) +(?:[^\s",]+) +"((?:[^"\\]|\\.)*)"(?: +"[^"]*")?\s*(?:,|$)/y;

/**
 * Returns the texts of the warnings with the code 299, in order. A part that is not a warning is skipped.
 *
 * @param header value of the header; several headers are joined by commas; each character is a byte (Latin 1)
 */
export function warningsOf(header: string): string[] {
  const texts: string[] = [];
  for (let at = 0; at < header.length;) {
    WARNING.lastIndex = at;
    const [all = '', code, quoted = ''] = WARNING.exec(header) ?? [];
    if (code === PERSISTENT) texts.push(textOf(quoted));
    at = all === '' ? after(header, at) : at + all.length;
  }
  return texts.filter((text) => text !== '');
}

/** Returns the place behind the next comma. */
function after(header: string, at: number): number {
  const comma = header.indexOf(',', at);
  return comma === -1 ? header.length : comma + 1;
}

function textOf(quoted: string): string {
  const bytes = Buffer.from(quoted.replace(/\\(.)/gs, '$1'), 'latin1');
  return escapeControls(bytes.toString());
}
