/** The metadata of an object without managedFields, which are a third of it and rarely read. */
import { dropPaths } from './drop.ts';
import { GO_ORDER } from './go-order.ts';
import { pathTrie } from './path-trie.ts';
import { keyEquals, memberValue } from './read.ts';
import { skipString, skipValue } from './skip.ts';
import { afterMember, openObject, valueAfterKey } from './walk.ts';

const QUOTE = 0x22;
const METADATA = Buffer.from('metadata');
const GO_KEYS: readonly Buffer[] = GO_ORDER.map((key) => Buffer.from(key));
const MANAGED_FIELDS = pathTrie(['managedFields']);

/** @returns undefined when the object has no metadata, or when the text up to their end is not JSON */
export function metadataText(bytes: Buffer, start: number, end: number): string | undefined {
  const metadata = memberValue(bytes, start, end, METADATA);
  if (metadata < 0) return undefined;
  const keptGoEnd = endBeforeManagedFields(bytes, metadata, end);
  // Go writes nothing after managedFields.
  if (keptGoEnd >= 0) return `${bytes.toString('utf8', metadata, keptGoEnd)}}`;
  const metadataEnd = skipValue(bytes, metadata, end);
  if (metadataEnd < 0) return undefined;
  const kept = Buffer.allocUnsafe(metadataEnd - metadata);
  const keptEnd = dropPaths(bytes, metadata, metadataEnd, MANAGED_FIELDS, kept, 0);
  return keptEnd < 0 ? undefined : kept.toString('utf8', 0, keptEnd);
}

/** Returns the end of the member before managedFields if Go wrote this metadata, or -1. */
function endBeforeManagedFields(bytes: Uint8Array, metadata: number, end: number): number {
  let seen = 0;
  let keptEnd = -1;
  let at = openObject(bytes, metadata, end);
  while (at >= 0 && bytes[at] === QUOTE) {
    const keyEnd = skipString(bytes, at, end);
    const expected = GO_KEYS[seen];
    if (expected && keyEquals(bytes, at, keyEnd, expected)) seen++;
    if (seen === GO_KEYS.length) return keptEnd;
    keptEnd = skipValue(bytes, valueAfterKey(bytes, keyEnd, end), end);
    at = afterMember(bytes, keptEnd, end);
  }
  return -1;
}
