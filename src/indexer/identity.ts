/** Identity of an object, read from its delta record only; no other bytes of the object are read. */
import { decodeStringContent } from '../kube/json/read.ts';
import type { ObjectLocation } from '../shared/record/delta.ts';

/**
 * Returns the extracted fields of an unreadable object: the uid only, in the form in which `ProjectionWriter` begins.
 */
export function uidProjection(log: Buffer, delta: ObjectLocation): string {
  return JSON.stringify([quoted(log, delta, delta.uidOffset, delta.uidLength) ?? null]);
}

/** Returns the JSON of the smallest object with this identity. */
export function identityOf(log: Buffer, delta: ObjectLocation): Buffer {
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
  return Buffer.from(JSON.stringify({ metadata }));
}

/** Returns the content of a JSON string. Names need no decoding, unlike uid and version. */
function quoted(log: Buffer, delta: ObjectLocation, offset: number, length: number): string | undefined {
  const start = delta.offset + offset;
  return length === 0 ? undefined : decodeStringContent(log, start, start + length);
}
