/**
 * Seeds: the keys of an informer with their ids and their versions in both states, from the main thread's replica, for
 * the successor of a shard. There may be a million keys, so each seed has a few. The keys cannot change meanwhile: only
 * the shard itself could change them, and no relist ends without its answer.
 */
import type { UsedId } from '../../replica/store/replica.ts';
import type { KeyHash } from '../../shared/record/key-hash.ts';
import type { KeySeed } from '../../shared/protocol.ts';

const KEYS_PER_SEED = 512;
const WORDS_PER_KEY = 4;
/** A UTF-16 code unit takes at most 3 bytes in UTF-8. */
const BYTES_PER_UNIT_MAX = 3;

/**
 * Yields the seeds of an informer.
 *
 * @param hash a hash with the reflector's key
 */
export function* keySeeds(ids: Iterable<UsedId>, hash: KeyHash): Generator<KeySeed> {
  let some: UsedId[] = [];
  for (const id of ids) {
    some.push(id);
    if (some.length < KEYS_PER_SEED) continue;
    yield seedOf(some, hash);
    some = [];
  }
  // Send the last one even without keys: a seed also carries the open relist's epoch.
  yield seedOf(some, hash);
}

function seedOf(ids: readonly UsedId[], hash: KeyHash): KeySeed {
  const units = ids.reduce((sum, { identity }) => sum + identity.namespace.length + identity.name.length, 0);
  const bytes = Buffer.allocUnsafeSlow(units * BYTES_PER_UNIT_MAX);
  const words = new Int32Array(ids.length * WORDS_PER_KEY);
  let end = 0;
  for (const [index, { id, identity }] of ids.entries()) {
    const nameStart = end + bytes.write(identity.namespace, end, 'utf8');
    const nameEnd = nameStart + bytes.write(identity.name, nameStart, 'utf8');
    const namespace = { bytes, start: end, end: nameStart };
    const name = { bytes, start: nameStart, end: nameEnd };
    const lengths = [nameStart - end, nameEnd - nameStart];
    words.set([id, hash.of(namespace, name), ...lengths], index * WORDS_PER_KEY);
    end = nameEnd;
  }
  return {
    words,
    bytes: new Uint8Array(bytes.subarray(0, end)),
    live: ids.map(({ live }) => live),
    listed: ids.map(({ listed }) => listed),
  };
}
