/** The variable part of a notification, as a shard passes it. */
import type { NotificationText } from '../../../../src/shared/record/notification.ts';

export function textOf(bytes: Uint8Array): NotificationText {
  // The bytes after the text in its last word are unused.
  const padded = new Uint8Array(Math.ceil(bytes.length / 4) * 4).fill(0xbb);
  padded.set(bytes);
  return { words: new Int32Array(padded.buffer), length: bytes.length };
}
