/** Replica, state and indexes compared with a plain Map, through random histories with relists in all their forms. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import type { Random } from '../../../../src/base/clock.ts';
import type { Difference } from '../../../../src/replica/store/deliveries.ts';
import type { Entry } from '../../../../src/replica/store/entry.ts';
import { seededRandom, wholeNumber } from '../../shared/ring/random.ts';
import { Mirror } from './mirror.ts';
import { isPacked, tableOf } from './objects.ts';
import { ReplicaTwin } from './replica-twin.ts';
import { deliveryOf } from './scripted-replica.ts';

const STEPS = 800;

function pipeline(
  random: Random,
  shards: number,
): { twin: ReplicaTwin; mirror: Mirror; differences: number[] } {
  const mirror = new Mirror();
  const differences: number[] = [];
  const listener = {
    changed(oldRow: number, newRow: number): void {
      const { oldEntry, newEntry } = deliveryOf(twin.owner.table, oldRow, newRow);
      mirror.change(oldEntry, newEntry);
    },
    replaced(difference: Difference): void {
      differences.push(mirror.drain(difference.cursor(true)).length);
    },
  };
  const twin = new ReplicaTwin(random, listener, shards);
  return { twin, mirror, differences };
}

/** One step of a history: the watch, a relist in any of its forms, or maintenance between them. */
function step(twin: ReplicaTwin, random: Random): void {
  const chance = random();
  if (chance < 0.35) twin.event(twin.write(), false);
  else if (chance < 0.45) deleteOne(twin, false);
  else if (chance < 0.47) deleteOne(twin, true);
  // Changes without a watch event: the reason for relists.
  else if (chance < 0.55) twin.write();
  else if (chance < 0.58) twin.delete(false);
  else if (chance < 0.61) twin.begin();
  else if (chance < 0.9) twin.item();
  else if (chance < 0.905) twin.abort();
  else if (chance < 0.94) twin.end();
  else if (chance < 0.95) twin.bookmark();
  else if (chance < 0.96) twin.stray();
  else if (chance < 0.965) twin.addIndexers();
  else if (chance < 0.98) twin.dispose();
  else twin.pack(wholeNumber(random, 1, 60));
}

function storedBytes(entries: readonly Entry[]): number {
  return entries.reduce((sum, entry) => sum + tableOf(entry).storedBytesOf(entry.row), 0);
}

function deleteOne(twin: ReplicaTwin, isUnseen: boolean): void {
  const deleted = twin.delete(isUnseen);
  if (deleted) twin.event(deleted, true);
}

describe('a replica through random histories', () => {
  for (const seed of [1, 2, 3, 4, 6, 8]) {
    const shards = 1 + (seed % 3);
    test(`C2 C3 C5 C6 C17 answers every query as a plain map would, after every commit (seed ${seed}, ${shards} shards)`, () => {
      const random = seededRandom(seed);
      const { twin, mirror, differences } = pipeline(random, shards);
      for (let count = 0; count < STEPS; count++) {
        step(twin, random);
        twin.check();
        mirror.checkEqual(twin.cachedEntries);
      }
      assert.ok(differences.length > 5 && differences.some((length) => length > 5), 'too few relists');
      assert.ok(twin.cachedSize > 5);
      twin.end();
      twin.dispose();
      const { slabs, packed } = twin.owner;
      const entries = twin.cachedEntries;
      const isLoose = (entry: Entry): boolean => !isPacked(entry);
      assert.equal(slabs.liveBytes, storedBytes(entries.filter(isLoose)), 'they hold exactly what is cached');
      assert.equal(packed.slabs.liveBytes, storedBytes(entries.filter(isPacked)));
      assert.ok(twin.dissolved > 0, 'no dictionary was dissolved');
      twin.clear();
      assert.equal(slabs.liveBytes, 0);
      assert.equal(packed.slabs.liveBytes, 0);
      assert.deepEqual(
        twin.entries.filter((entry) => tableOf(entry).isCurrent(entry)).map(({ key }) => key),
        [],
      );
    });
  }
});
