/** A word that tests put into every secret, and the search for it in everything that could be printed. */
import { inspect } from 'node:util';

export const CANARY = 'c4n4ry';
const ENCODED = Buffer.from(CANARY).toString('base64').slice(0, -2);
const FOUND = new RegExp(`${CANARY}|${ENCODED}`, 'i');

/** Returns every text that could be printed for a value. */
export function everythingOf(value: unknown): string {
  const parts = [inspect(value, { depth: 12, showHidden: true, maxStringLength: Infinity })];
  for (let error = value; error instanceof Error; error = error.cause) {
    parts.push(
      error.message,
      String(error.stack),
      JSON.stringify(error),
      JSON.stringify(Object.entries(error)),
    );
  }
  return parts.join('\n');
}

/** Returns the canary with the text around it, or undefined. */
export function canaryIn(text: string): string | undefined {
  const at = text.search(FOUND);
  return at < 0 ? undefined : `…${text.slice(Math.max(0, at - 200), at + 100)}`;
}
