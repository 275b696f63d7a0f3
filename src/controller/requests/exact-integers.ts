/**
 * Integers beyond 2^53, which int64 fields hold and JSON.parse rounds: writing back an object that was read would
 * change them. The bytes of the stored object show which integers JavaScript cannot write back.
 */
import { KubeloomError } from '../../base/errors.ts';

/** A text or a number of JSON. */
const TEXT_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const LARGE_INTEGER = /^-?\d{16,}$/;

/** Returns the integers of a JSON text that are beyond 2^53, as they are written. */
export function largeIntegersOf(json: string): string[] {
  return Array.from(json.matchAll(TEXT_OR_NUMBER), ([text]) => text).filter(
    (text) => LARGE_INTEGER.test(text) && !Number.isSafeInteger(Number(text)),
  );
}

/**
 * Refuses a write that would change an integer of the stored object.
 *
 * @param sent large integers of the object that is sent
 * @param stored JSON of the object as stored
 * @param what the write, for the message
 * @throws ERR_KUBELOOM_INEXACT_INTEGER
 */
export function checkExactIntegers(sent: readonly string[], stored: string, what: string): void {
  for (const text of largeIntegersOf(stored)) {
    const written = String(Number(text));
    if (written === text || !sent.includes(written)) continue;
    const message =
      `${what} would change the integer ${text} to ${written}: JavaScript reads integers beyond 2^53 inexactly. ` +
      'Send a patch with only the members that you change';
    throw new KubeloomError('ERR_KUBELOOM_INEXACT_INTEGER', message);
  }
}
