/**
 * How to reach one apiserver: everything that a TLS socket and a request need and no functions, so that it
 * can be posted to the reflector thread.
 */

export interface ConnectionOptions {
  /** Scheme, host and port, and a base path if any: `https://127.0.0.1:6443`. */
  readonly server: string;
  /** PEM. Without it the system's CAs decide. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** Name to send and to verify instead of the server's host. */
  readonly servername?: string;
  /** Verification is off only when this is exactly false. */
  readonly rejectUnauthorized?: boolean;
  /** Sent with every request; credentials are here. */
  readonly headers: Readonly<Record<string, string>>;
}
