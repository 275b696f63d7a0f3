/**
 * The caches of other threads through random histories: main thread and readers take their turns in a seeded order, with
 * relists, packing, full rings, and readers that end at any moment.
 */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import type { Random } from '../../../../src/base/clock.ts';
import { SharedProcessor } from '../../../../src/replica/deliver/processor-listener.ts';
import { CacheExports } from '../../../../src/replica/store/cache-exports.ts';
import type { Difference } from '../../../../src/replica/store/deliveries.ts';
import type { Entry } from '../../../../src/replica/store/entry.ts';
import type { CachedObject } from '../../../../src/replica/store/cached-object.ts';
import { NO_ROW } from '../../../../src/replica/store/columns.ts';
import { seededRandom, wholeNumber } from '../../shared/ring/random.ts';
import { borrowed, tableOf } from '../../replica/store/objects.ts';
import { ReplicaTwin } from '../../replica/store/replica-twin.ts';
import { settled } from '../../replica/deliver/listener-scene.ts';
import { ReaderTwin } from './reader-twin.ts';

const STEPS = 1500;
const READERS_MAX = 3;
/** The smallest ring: few records fill it. */
const STATES_BYTES = 4096;

interface Each {
  readonly reader: ReaderTwin;
  /** Index of the last state in which its cache was. */
  stateAt: number;
  /** Version of the main thread's cache when the reader was removed. */
  removedAt?: string;
}

class World {
  readonly processor: SharedProcessor = new SharedProcessor();
  readonly twin: ReplicaTwin;
  readonly cacheExports: CacheExports;
  readonly random: Random;
  readonly readers: Each[] = [];
  /** Contents of the cache after each commit. */
  readonly states: string[] = [''];
  /** JSON of each state that was ever in the cache, or the last of its object. */
  readonly objects: Map<string, string> = new Map();
  kills = 0;
  removals = 0;
  fullRings = 0;
  /** Number of times that a list replaced pending notifications. */
  replacements = 0;
  moves = 0;

  constructor(seed: number) {
    this.random = seededRandom(seed);
    this.twin = new ReplicaTwin(
      this.random,
      {
        changed: (oldRow: number, newRow: number): void => {
          this.#record([oldRow, newRow]);
          this.processor.changed(oldRow, newRow);
        },
        replaced: (difference: Difference): void => {
          this.#record(this.#rows());
          this.processor.replaced(difference);
        },
      },
      1 + (seed % 3),
    );
    this.cacheExports = new CacheExports(this.twin.owner.table, () => undefined);
    const { cacheExports } = this;
    this.twin.owner.readers = {
      mayMove: () => cacheExports.mayMove(),
      moved: (row, former) => {
        this.moves++;
        cacheExports.moved(row, former);
      },
      dropped: (memory) => {
        // No thread may read it any more.
        memory.bytes.fill(0x58);
        cacheExports.dropped(memory);
      },
    };
  }

  join(): void {
    const { owner, replica } = this.twin;
    const { processor, cacheExports } = this;
    const reader = new ReaderTwin(
      { owner, replica, processor, cacheExports },
      this.random,
      STATES_BYTES,
      (entry) => this.checkObject(entry),
      // Some threads have to return old states before they receive more.
      this.random() < 0.5 ? wholeNumber(this.random, 0, 8192) : Infinity,
    );
    this.readers.push({ reader, stateAt: 0 });
  }

  kill(at: number): void {
    const [killed] = this.readers.splice(at, 1);
    if (!killed) return;
    this.kills++;
    this.checkRetained(killed.reader);
    killed.reader.kill();
    killed.reader.release();
    assert.equal(killed.reader.rows, 0);
  }

  /** The main thread removes the reader's handler at any moment. The reader goes on until it is killed. */
  remove(each: Each | undefined): void {
    if (!each || each.removedAt !== undefined) return;
    this.removals++;
    each.removedAt = this.twin.indexer.lastStoreSyncResourceVersion();
    each.reader.remove();
  }

  /** Ends the readers whose handler was removed. */
  killRemoved(): void {
    for (let at = this.readers.length - 1; at >= 0; at--) {
      const each = this.readers[at];
      if (each?.removedAt === undefined) continue;
      const { reader } = each;
      reader.link.runOnce();
      reader.read(Infinity, Infinity);
      this.checkReader(each);
      reader.link.runOnce();
      reader.read(Infinity, Infinity);
      assert.equal(reader.stopped, 'no error');
      assert.equal(reader.listener.isReady, false);
      this.kill(at);
    }
  }

  checkObject(entry: Pick<Entry, 'key' | 'resourceVersion' | 'bytes'>): void {
    const name = `${entry.key}@${entry.resourceVersion}`;
    assert.equal(entry.bytes().toString(), this.objects.get(name), name);
  }

  checkRetained({ retained }: ReaderTwin): void {
    for (const entry of retained.splice(0)) this.checkObject(entry);
  }

  /** Checks that a reader's cache is a state that the main thread had, not older than the one before, byte for byte. */
  checkReader(each: Each): void {
    const { reader, removedAt } = each;
    reader.checkErrors();
    const version = reader.indexer.lastStoreSyncResourceVersion();
    if (removedAt !== undefined)
      assert.ok(Number(version) <= Number(removedAt), `${version} after ${removedAt}`);
    if (!reader.replica.hasSynced) return;
    const objects = reader.indexer.list();
    const state = stateOf(objects);
    while (each.stateAt < this.states.length && this.states[each.stateAt] !== state) each.stateAt++;
    assert.ok(each.stateAt < this.states.length, `a state that the main thread never had: ${state}`);
    for (const entry of objects) this.checkObject(entry);
    for (const namespace of ['default', 'kube-system']) {
      const expected = objects.filter((entry) => entry.namespace === namespace).map(({ key }) => key);
      assert.deepEqual(reader.indexer.indexKeys('namespace', namespace), expected.sort());
    }
    const ofApp = objects.filter(({ labels }) => labels['app'] === 'größe').map(({ key }) => key);
    assert.deepEqual(reader.indexer.indexKeys('app', 'größe'), ofApp.sort());
  }

  async step(): Promise<void> {
    const { random, twin } = this;
    const at = wholeNumber(random, 0, READERS_MAX - 1);
    const each = this.readers[at];
    const chance = random();
    if (chance < 0.4) mainStep(twin, random);
    else if (chance < 0.42) this.join_();
    else if (chance < 0.43) this.kill(at);
    else if (chance < 0.44) this.remove(each);
    else if (each && chance < 0.47) {
      const { coalesced } = each.reader.listener;
      each.reader.listener.coalesce(1024);
      if (each.reader.listener.coalesced > coalesced) this.replacements++;
    } else if (each && chance < 0.7) {
      each.reader.deliver(wholeNumber(random, 1, 40));
      if (each.reader.listener.pendingNotifications > 0 && !each.reader.listener.isReady) this.fullRings++;
    } else if (each) {
      each.reader.read(wholeNumber(random, 0, 60), wholeNumber(random, 0, 60));
      this.checkReader(each);
      if (random() < 0.1) this.checkRetained(each.reader);
    }
    // The promises of calls that waited for room settle.
    if (random() < 0.3) await settled();
    if (each && random() < 0.5) each.reader.listener.release();
  }

  /** Reads everything in every reader. */
  async level(): Promise<void> {
    for (const each of this.readers) {
      const { reader } = each;
      for (let turns = 0; turns < 1000 && !reader.isLevel; turns++) {
        reader.deliver(Infinity);
        await settled();
        reader.read(Infinity, Infinity);
      }
      reader.deliver(Infinity);
      reader.read(Infinity, Infinity);
      while (reader.listener.release());
      assert.ok(reader.isLevel, 'a reader did not become level');
      this.checkReader(each);
      this.checkRetained(reader);
      reader.mirror.checkEqual(entriesOf(reader));
      reader.link.runOnce();
    }
  }

  join_(): void {
    if (this.readers.length < READERS_MAX) this.join();
  }

  #rows(): number[] {
    const { live } = this.twin.replica;
    return [...live.ordinals()].map((ordinal) => live.rowAt(ordinal));
  }

  #record(rows: readonly number[]): void {
    const { table } = this.twin.owner;
    for (const row of rows) {
      if (row === NO_ROW) continue;
      const entry = table.open(row);
      const name = `${entry.key}@${entry.resourceVersion}`;
      if (!this.objects.has(name))
        this.objects.set(
          name,
          borrowed(entry, '', () => entry.bytes().toString()),
        );
    }
    this.states.push(stateOf(this.#rows().map((row) => table.open(row))));
  }
}

function mainStep(twin: ReplicaTwin, random: Random): void {
  const chance = random();
  if (chance < 0.47) twin.event(twin.write(), false);
  else if (chance < 0.55) deleteOne(twin, false);
  else if (chance < 0.57) deleteOne(twin, true);
  else if (chance < 0.62) twin.write();
  else if (chance < 0.65) twin.delete(false);
  else if (chance < 0.67) twin.begin();
  else if (chance < 0.8) twin.item();
  else if (chance < 0.81) twin.abort();
  else if (chance < 0.85) twin.end();
  else if (chance < 0.87) twin.bookmark();
  else if (chance < 0.92) twin.dispose();
  else twin.pack(wholeNumber(random, 1, 60));
}

function deleteOne(twin: ReplicaTwin, isUnseen: boolean): void {
  const deleted = twin.delete(isUnseen);
  if (deleted) twin.event(deleted, true);
}

type Read = Pick<CachedObject<unknown>, 'key' | 'uid' | 'resourceVersion' | 'labels' | 'fields'>;

function stateOf(entries: Iterable<Read>): string {
  return Array.from(entries, ({ key, uid, resourceVersion, labels, fields }) =>
    JSON.stringify([key, uid, resourceVersion, labels, fields]),
  )
    .sort()
    .join();
}

function entriesOf({ replica }: ReaderTwin): Entry[] {
  const { live, table } = replica;
  return [...live.ordinals()].map((ordinal) => table.open(live.rowAt(ordinal)));
}

function storedBytes(twin: ReplicaTwin): number {
  return twin.cachedEntries.reduce((sum, entry) => sum + tableOf(entry).storedBytesOf(entry.row), 0);
}

describe('readers of one cache through random histories', () => {
  for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
    test(`each reader has a state that the main thread had, byte for byte, and in the end the main thread holds only what is cached (seed ${seed})`, async () => {
      const world = new World(seed);
      const { twin } = world;
      world.join();
      twin.begin();
      twin.end();
      for (let count = 0; count < STEPS; count++) await world.step();
      twin.end();
      world.killRemoved();
      world.join_();
      await world.level();
      twin.dispose();
      twin.bookmark();
      // Compaction has moved rows, of which the readers return the former ones.
      await world.level();
      const { slabs, packed } = twin.owner;
      for (const { reader } of world.readers) {
        assert.equal(stateOf(reader.indexer.list()), stateOf(twin.indexer.list()));
        assert.equal(
          reader.indexer.lastStoreSyncResourceVersion(),
          twin.indexer.lastStoreSyncResourceVersion(),
        );
        assert.equal(reader.rows, twin.cachedSize, 'a reader has rows that are not in the cache');
      }
      assert.equal(
        slabs.liveBytes + packed.slabs.liveBytes,
        storedBytes(twin),
        'more is held than is cached',
      );
      assert.ok(world.moves > 20, `${world.moves} moves of rows that readers have`);
      assert.ok(
        world.kills > 3 && world.fullRings > 3 && world.removals > 0,
        `${world.kills} kills, ${world.fullRings} full rings, ${world.removals} removals`,
      );
      assert.ok(world.replacements > 0, `${world.replacements} lists in place of notifications`);
      while (world.readers.length > 0) world.kill(0);
      twin.clear();
      assert.equal(slabs.liveBytes, 0);
      assert.equal(packed.slabs.liveBytes, 0);
    });
  }
});
