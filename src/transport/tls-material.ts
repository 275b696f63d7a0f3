/** CA, client certificate and key as what a TLS socket takes; what cannot be used is refused, never left out. */
import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { SecureContext } from 'node:tls';
import type { ConnectionOptions } from '../threads/protocol.ts';

export type TlsMaterial = Pick<ConnectionOptions, 'ca' | 'cert' | 'key'>;

/** @throws what OpenSSL says of unusable certificates and keys */
export function secureContextOf({ ca, cert, key }: TlsMaterial): SecureContext {
  // An empty CA would be none, and so every public one; one that is no PEM would just trust nobody.
  if (ca !== undefined) void new X509Certificate(ca);
  return createSecureContext({
    // The default can be lowered from outside (--tls-min-v1.0).
    minVersion: 'TLSv1.2',
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  });
}
