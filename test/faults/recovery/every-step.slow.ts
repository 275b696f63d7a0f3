/** End of a shard or of the reflector before any of its stores to shared memory: caches and handlers converge. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Role } from '../../../src/informer/threads/backend.ts';
import { followHistory } from './history.ts';
import { MortalTwin } from './mortal-twin.ts';
import type { Death } from './mortal-twin.ts';

const NEVER: number = Number.MAX_SAFE_INTEGER;

async function cacheWith(
  death: Death,
  codec: 'json' | 'msgpack',
): Promise<{ cache: readonly string[]; hasDied: boolean }> {
  await using twin = new MortalTwin(death);
  const { cache, codes } = await followHistory(twin.threads, codec);
  assert.deepEqual(
    codes.filter((code) => code !== 'ERR_KUBELOOM_THREAD_RESTARTED'),
    [],
  );
  return { cache, hasDied: twin.hasDied };
}

for (const role of [0, 1, 'reflector'] satisfies Role[]) {
  test(`the cache converges wherever ${role === 'reflector' ? 'the reflector' : `shard ${role}`} ends between its stores to shared memory`, async () => {
    const undisturbed = await cacheWith({ role, atStore: NEVER }, 'json');
    assert.equal(undisturbed.cache.length, 5);
    let atStore = 1;
    for (let hasDied = true; hasDied; atStore++) {
      // An object in msgpack does not fit into the ring at once, so a shard may end in the middle of it.
      const packed = await cacheWith({ role, atStore }, 'msgpack');
      assert.deepEqual(packed.cache, undisturbed.cache, `${role} died before its store ${atStore}`);
      ({ hasDied } = packed);
      if (atStore % 3 !== 0) continue;
      const plain = await cacheWith({ role, atStore }, 'json');
      assert.deepEqual(plain.cache, undisturbed.cache, `${role} died before its store ${atStore}, json`);
    }
    assert.ok(atStore > 20, `a history needs more than ${atStore} stores`);
  });
}
