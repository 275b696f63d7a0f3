/**
 * CA, client certificate and key in the form of a TLS socket's options. Unusable ones are refused, never
 * omitted.
 */
import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { SecureContext } from 'node:tls';
import type { ConnectionOptions } from '../../shared/protocol.ts';

export type TlsMaterial = Pick<ConnectionOptions, 'ca' | 'cert' | 'key'>;

/** @throws OpenSSL's error for unusable certificates and keys */
export function secureContextOf({ ca, cert, key }: TlsMaterial): SecureContext {
  // An empty CA would mean every public one; one that is no PEM would silently trust none.
  if (ca !== undefined) void new X509Certificate(ca);
  // The default of the version can be lowered from outside (--tls-min-v1.0).
  return createSecureContext({ minVersion: 'TLSv1.2', ca, cert, key });
}
