/** Bytes to be packed: samples, and small changes of them. */
import type { Random } from '../../../../src/base/clock.ts';
import { allocateViewed } from '../../../../src/replica/store/pack.ts';
import type { Viewed } from '../../../../src/replica/store/pack.ts';
import { wholeNumber } from '../../shared/ring/random.ts';

export function viewed(bytes: Uint8Array): Viewed {
  const made = allocateViewed(bytes.length);
  made.bytes.set(bytes);
  made.length = bytes.length;
  return made;
}

/** Returns random bytes of a random number of kinds, so that parts of them are alike. */
export function anyBytes(random: Random, length: number): Buffer {
  const kinds = wholeNumber(random, 1, 256);
  return Buffer.from(Array.from({ length }, () => Math.floor(random() * kinds)));
}

/** Returns pieces of `original`, some left out, some twice, with other bytes between them. */
export function edited(random: Random, original: Buffer): Buffer {
  const pieces: Buffer[] = [];
  const edits = wholeNumber(random, 0, 12);
  let at = 0;
  for (let edit = 0; edit < edits; edit++) {
    const end = wholeNumber(random, at, original.length);
    pieces.push(original.subarray(at, end), anyBytes(random, wholeNumber(random, 0, 40)));
    const step = wholeNumber(random, -200, 200);
    at = random() < 0.5 ? end : Math.min(original.length, Math.max(0, end + step));
  }
  return Buffer.concat([...pieces, original.subarray(at)]);
}
