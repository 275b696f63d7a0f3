/** The variable part of a notification, as a shard hands it over. */
import type { NotificationText } from '../../src/record/notification.ts';

export function textOf(bytes: Uint8Array): NotificationText {
  // What lies behind the text in its last word is nobody's.
  const padded = new Uint8Array(Math.ceil(bytes.length / 4) * 4).fill(0xbb);
  padded.set(bytes);
  return { words: new Int32Array(padded.buffer), length: bytes.length };
}
