/**
 * What the successor of a shard must know of an informer, from the main thread's replica: which key has which id
 * and version, and in which of the two states it is. A few keys at a time, because there may be a million: nothing changes
 * meanwhile, as only the shard itself could change its keys, and no relist ends without its answer.
 */
import type { UsedId } from '../store/replica.ts';
import { hashKey } from '../reflector/key-hash.ts';
import type { KeySeed } from './protocol.ts';

const KEYS_PER_SEED = 512;
const WORDS_PER_KEY = 5;
/** A UTF-16 code unit takes at most 3 bytes in UTF-8. */
const BYTES_PER_UNIT_MAX = 3;

export function* keySeeds(ids: Iterable<UsedId>): Generator<KeySeed> {
  let some: UsedId[] = [];
  for (const id of ids) {
    some.push(id);
    if (some.length < KEYS_PER_SEED) continue;
    yield seedOf(some);
    some = [];
  }
  // Also without a key: it tells of the open relist.
  yield seedOf(some);
}

function seedOf(ids: readonly UsedId[]): KeySeed {
  const units = ids.reduce((sum, { identity }) => sum + identity.namespace.length + identity.name.length, 0);
  const bytes = Buffer.allocUnsafeSlow(units * BYTES_PER_UNIT_MAX);
  const words = new Int32Array(ids.length * WORDS_PER_KEY);
  let end = 0;
  for (const [index, { id, identity, isLive, isListed }] of ids.entries()) {
    const nameStart = end + bytes.write(identity.namespace, end, 'utf8');
    const nameEnd = nameStart + bytes.write(identity.name, nameStart, 'utf8');
    const hash = hashKey({ bytes, start: end, end: nameStart }, { bytes, start: nameStart, end: nameEnd });
    const states = (isLive ? 1 : 0) | (isListed ? 2 : 0);
    words.set([id, hash, nameStart - end, nameEnd - nameStart, states], index * WORDS_PER_KEY);
    end = nameEnd;
  }
  return {
    words,
    bytes: new Uint8Array(bytes.subarray(0, end)),
    versions: ids.map(({ version }) => version),
  };
}
