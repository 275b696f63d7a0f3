/** A change of the backend after any store to shared memory, alone and with deaths: caches and handlers converge. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Role } from '../../../src/informer/threads/backend.ts';
import { ChangingTwin } from './changing-twin.ts';
import type { Act } from './changing-twin.ts';
import { followHistory } from './history.ts';

const RESTARTED = 'ERR_KUBELOOM_THREAD_RESTARTED';
/** Stores between the start of the second backend and its end. */
const START_STORES = 5;
const ROLES: readonly Role[] = [0, 1, 'reflector'];

interface Sweep {
  readonly acts: (atStore: number) => readonly Act[];
  readonly codes: readonly string[];
  /** Whether the informer ends on the second backend. */
  readonly changes: boolean;
}

const start = (atStore: number): Act => ({ atStore, act: (twin) => twin.readManyChanges() });
const load = (atStore: number): Act => ({ atStore, act: (twin) => twin.load() });

/** Follows the history once for each store after which the first act can happen. */
async function sweep({ acts, codes, changes }: Sweep): Promise<void> {
  await using still = new ChangingTwin();
  const undisturbed = await followHistory(still.threads, 'json');
  assert.equal(undisturbed.cache.length, 5);
  const lastStore = still.stores - 2 * START_STORES;
  assert.ok(lastStore > 20, `a history needs more than ${lastStore} stores`);
  let lastChange = 0;
  for (let atStore = 1; atStore <= lastStore; atStore++) {
    await using twin = new ChangingTwin(acts(atStore));
    const { cache, codes: reported } = await followHistory(
      twin.threads,
      atStore % 3 === 0 ? 'json' : 'msgpack',
    );
    assert.deepEqual(cache, undisturbed.cache, `after store ${atStore}`);
    // The acts of late stores meet an informer that stops.
    if (twin.workers.length === 0 || (reported.length < codes.length && atStore > lastStore / 2)) continue;
    lastChange = atStore;
    assert.deepEqual(reported, codes, `after store ${atStore}`);
    assert.equal(twin.workers[0]?.isEnded, !changes, `after store ${atStore}`);
  }
  assert.ok(lastChange > lastStore / 2, `the last change came after store ${lastChange}`);
}

test('C483 the cache converges, and no error is reported, after whichever store the backend changes', () =>
  sweep({ acts: (at) => [start(at), load(at + START_STORES)], codes: [], changes: true }));

for (const role of ROLES) {
  const name = role === 'reflector' ? 'the reflector' : `shard ${role}`;
  test(`C483 the cache converges when ${name} of the calling thread ends while worker threads start`, () =>
    sweep({
      acts: (at) => [
        start(at),
        { atStore: at + 2, act: ({ first }) => first.at(-1)?.kill(role) },
        load(at + START_STORES),
      ],
      codes: [RESTARTED],
      changes: true,
    }));

  test(`C483 the calling thread goes on when ${name} of the worker threads ends before they are ready`, () =>
    sweep({
      acts: (at) => [start(at), { atStore: at + 2, act: ({ workers }) => workers[0]?.kill(role) }],
      codes: [RESTARTED],
      changes: false,
    }));
}
