/** Who an object is, from its delta record alone: nothing of the object beside is looked at. */
import { decodeStringContent } from '../json/read.ts';
import type { ObjectLocation } from '../record/delta.ts';

export interface IdentityOnly {
  /** As `ProjectionWriter` would begin it: the uid, and nothing of what follows. */
  readonly projection: string;
  /** The smallest object with this identity. */
  readonly json: Buffer;
}

/** The projection of what cannot be read: that object has a uid nevertheless. */
export function uidProjection(log: Buffer, delta: ObjectLocation): string {
  return JSON.stringify([quoted(log, delta, delta.uidOffset, delta.uidLength) ?? null]);
}

export function identityOf(log: Buffer, delta: ObjectLocation): IdentityOnly {
  const plain = (offset: number, length: number): string | undefined => {
    const start = delta.offset + offset;
    return length === 0 ? undefined : log.toString('utf8', start, start + length);
  };
  const metadata = {
    name: plain(delta.nameOffset, delta.nameLength),
    namespace: plain(delta.namespaceOffset, delta.namespaceLength),
    uid: quoted(log, delta, delta.uidOffset, delta.uidLength),
    resourceVersion: quoted(log, delta, delta.resourceVersionOffset, delta.resourceVersionLength),
  };
  return { projection: uidProjection(log, delta), json: Buffer.from(JSON.stringify({ metadata })) };
}

/** The content of a JSON string, unlike the names. */
function quoted(log: Buffer, delta: ObjectLocation, offset: number, length: number): string | undefined {
  const start = delta.offset + offset;
  return length === 0 ? undefined : decodeStringContent(log, start, start + length);
}
