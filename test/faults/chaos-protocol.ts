/** Commands to a chaos proxy, and its events. */

/** Treatment of the bytes for the client. */
export type Mode =
  | { readonly kind: 'pass' }
  /** Keeps the bytes until the mode is `pass` again. */
  | { readonly kind: 'hang' }
  /** Drops the bytes without an error: a half-open connection, which is reset when the mode is `pass` again. */
  | { readonly kind: 'drop' }
  /** Sends this number of bytes at a time. */
  | { readonly kind: 'drip'; readonly bytes: number; readonly everyMs: number }
  /** Splits the bytes into writes of this length. */
  | { readonly kind: 'split'; readonly bytes: number }
  /** Sends nothing before the first event, like proxies that wait for a body before they pass on a head. */
  | { readonly kind: 'withhold' }
  /** Cuts the next chunk in the middle by a reset; then `pass`. */
  | { readonly kind: 'reset-mid-event' }
  /** Answers with frames of HTTP/2. */
  | { readonly kind: 'http2' };

export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

export type Command =
  | { readonly type: 'start'; readonly target: number; readonly tls?: TlsFiles | undefined }
  | { readonly type: 'mode'; readonly mode: Mode }
  | { readonly type: 'reset' }
  /** Closes all connections and refuses new ones. */
  | { readonly type: 'refuse' }
  /** Listens again, optionally with another certificate. */
  | { readonly type: 'accept'; readonly tls?: TlsFiles | undefined };
export type ProxyCommand = Command & { readonly id: number };

export type ProxyEvent =
  | { readonly type: 'listening'; readonly port: number }
  | { readonly type: 'done'; readonly id: number }
  | { readonly type: 'accepted'; readonly atMs: number }
  | { readonly type: 'landed'; readonly what: string; readonly detail: string; readonly atMs: number }
  | { readonly type: 'failed'; readonly message: string };
