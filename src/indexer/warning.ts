/**
 * What a shard reports beside an object: a user function that failed, a projection that does not fit. It
 * travels as a prefix record and reaches the factory's `onError`.
 */

export interface Warning {
  readonly code: string;
  readonly message: string;
}

/** Texts are cut until the report fits into one record of a small ring. */
export function encodeWarning(warning: Warning, key: string, bytesMax: number): Buffer {
  const { code, message } = warning;
  for (let keep = message.length; ; keep = Math.floor(keep / 2)) {
    const text = keep < message.length ? `${message.slice(0, keep)}…` : message;
    const bytes = Buffer.from(JSON.stringify({ code, message: text, key }));
    if (bytes.length <= bytesMax) return bytes;
    if (keep === 0) return Buffer.from(JSON.stringify({ code, message: '', key: '' }));
  }
}
