/** Who an object is, from its delta record alone: nothing of the object beside is looked at. */
import { decodeStringContent } from '../json/read.ts';
import type { ObjectLocation } from '../record/delta.ts';

export interface IdentityOnly {
  /** As `ProjectionWriter` would begin it: the uid, and nothing of what follows. */
  readonly projection: string;
  /** The smallest object with this identity. */
  readonly json: Buffer;
}

export function identityOf(log: Buffer, delta: ObjectLocation): IdentityOnly {
  const plain = (offset: number, length: number): string | undefined => {
    const start = delta.offset + offset;
    return length === 0 ? undefined : log.toString('utf8', start, start + length);
  };
  // The content of a JSON string, unlike the names.
  const quoted = (offset: number, length: number): string | undefined => {
    const start = delta.offset + offset;
    return length === 0 ? undefined : decodeStringContent(log, start, start + length);
  };
  const uid = quoted(delta.uidOffset, delta.uidLength);
  const metadata = {
    name: plain(delta.nameOffset, delta.nameLength),
    namespace: plain(delta.namespaceOffset, delta.namespaceLength),
    uid,
    resourceVersion: quoted(delta.resourceVersionOffset, delta.resourceVersionLength),
  };
  return { projection: JSON.stringify([uid ?? null]), json: Buffer.from(JSON.stringify({ metadata })) };
}
