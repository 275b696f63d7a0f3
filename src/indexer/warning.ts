/**
 * A report of a shard about an object, e.g. a user's function that failed, or extracted fields that do not fit. It is
 * sent as a prefix record and reaches the factory's `onError`.
 */

export interface Warning {
  readonly code: string;
  readonly message: string;
}

/** Encodes a warning. Shortens the message until the report fits into one record of a small ring. */
export function encodeWarning(warning: Warning, key: string, bytesMax: number): Buffer {
  const { code, message } = warning;
  for (let keep = message.length; ; keep = Math.floor(keep / 2)) {
    const text = keep < message.length ? `${message.slice(0, keep)}…` : message;
    const bytes = Buffer.from(JSON.stringify({ code, message: text, key }));
    if (bytes.length <= bytesMax) return bytes;
    if (keep === 0) return Buffer.from(JSON.stringify({ code, message: '', key: '' }));
  }
}
