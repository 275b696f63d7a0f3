/** Transform that is slow for a number of objects, as an object's annotation requests. */

interface Asking {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
}

/** Annotation: number of slow objects from here on. */
const SLOW = 'test/slow';
const SLOW_MS = 80;

const cell = new Int32Array(new SharedArrayBuffer(4));
let left = 0;

export function slow(object: Asking): unknown {
  const asked = object.metadata?.annotations?.[SLOW];
  if (asked !== undefined) left = Number(asked);
  if (left > 0) {
    left--;
    Atomics.wait(cell, 0, 0, SLOW_MS);
  }
  return object;
}
