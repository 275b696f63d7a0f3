/**
 * Integers beyond 2^53, which int64 fields hold and JSON.parse rounds: writing back an object that was read would
 * change them. The bytes of the stored object show which integers JavaScript cannot write back.
 */
import { KubeloomError } from '../../base/errors.ts';

/** The beginning of a text, or a number of JSON. */
const TEXT_OR_NUMBER = /"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const LARGE_INTEGER = /^-?\d{16,}$/;

/** Returns the integers of a JSON text that are beyond 2^53, as they are written. */
export function largeIntegersOf(json: string): Set<string> {
  const found = new Set<string>();
  TEXT_OR_NUMBER.lastIndex = 0;
  for (let next = TEXT_OR_NUMBER.exec(json); next; next = TEXT_OR_NUMBER.exec(json)) {
    const [text] = next;
    if (text === '"') TEXT_OR_NUMBER.lastIndex = endOfText(json, next.index + 1);
    else if (LARGE_INTEGER.test(text) && !Number.isSafeInteger(Number(text))) found.add(text);
  }
  return found;
}

/** Returns the position after the closing quote. An expression for long texts would overflow the stack. */
function endOfText(json: string, start: number): number {
  let quote = json.indexOf('"', start);
  while (quote !== -1 && isEscaped(json, quote)) quote = json.indexOf('"', quote + 1);
  return quote === -1 ? json.length : quote + 1;
}

function isEscaped(json: string, at: number): boolean {
  let first = at;
  while (json[first - 1] === '\\') first--;
  return (at - first) % 2 === 1;
}

/**
 * Refuses a write that would change an integer of the stored object.
 *
 * @param sent large integers of the object that is sent
 * @param stored JSON of the object as stored
 * @param what the write, for the message
 * @throws ERR_KUBELOOM_INEXACT_INTEGER
 */
export function checkExactIntegers(sent: ReadonlySet<string>, stored: string, what: string): void {
  for (const text of largeIntegersOf(stored)) {
    const written = String(Number(text));
    if (written === text || !sent.has(written)) continue;
    const message =
      `${what} would change the integer ${text} to ${written}: JavaScript reads integers beyond 2^53 inexactly. ` +
      'Send a patch without this member';
    throw new KubeloomError('ERR_KUBELOOM_INEXACT_INTEGER', message);
  }
}
