/** What a chaos proxy can be told, and what it tells. */

/** What happens to the bytes for the client. */
export type Mode =
  | { readonly kind: 'pass' }
  /** Kept, and given when the mode is `pass` again. */
  | { readonly kind: 'hang' }
  /** Lost for ever, and nobody is told: a half-open connection, which is reset when the mode is `pass` again. */
  | { readonly kind: 'drop' }
  /** So many bytes at a time. */
  | { readonly kind: 'drip'; readonly bytes: number; readonly everyMs: number }
  /** In writes of so many bytes. */
  | { readonly kind: 'split'; readonly bytes: number }
  /** Nothing before the first event: proxies that wait for a body before they pass on a head. */
  | { readonly kind: 'withhold' }
  /** The next chunk is cut in the middle by a reset; then `pass`. */
  | { readonly kind: 'reset-mid-event' }
  /** Frames of HTTP/2 for an answer. */
  | { readonly kind: 'http2' };

export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

export type Command =
  | { readonly type: 'start'; readonly target: number; readonly tls?: TlsFiles | undefined }
  | { readonly type: 'mode'; readonly mode: Mode }
  | { readonly type: 'reset' }
  /** Cuts everything and refuses connections. */
  | { readonly type: 'refuse' }
  /** Listens again, perhaps with another certificate. */
  | { readonly type: 'accept'; readonly tls?: TlsFiles | undefined };
export type ProxyCommand = Command & { readonly id: number };

export type ProxyEvent =
  | { readonly type: 'listening'; readonly port: number }
  | { readonly type: 'done'; readonly id: number }
  | { readonly type: 'accepted'; readonly atMs: number }
  | { readonly type: 'landed'; readonly what: string; readonly detail: string; readonly atMs: number }
  | { readonly type: 'failed'; readonly message: string };
