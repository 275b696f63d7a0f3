/** Snapshots of the past: compared, at every revision, with copies made at the time. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EventLog } from '../../../src/apiserver/event-log.ts';
import { seededRandom } from '../../../src/apiserver/random.ts';
import { ResourceTable } from '../../../src/apiserver/resources.ts';
import { StoredObject } from '../../../src/apiserver/stored-object.ts';

const CONFIG_MAPS = new ResourceTable().named('configmaps');

describe('a snapshot', () => {
  for (const seed of [1, 2, 3]) {
    it(`of any revision has the objects of that revision (seed ${seed})`, () => {
      const random = seededRandom(seed);
      const log = new EventLog({ eventsMax: 150, bytesMax: 1e9 }, 1);
      const collection = log.collection(CONFIG_MAPS);
      const truth = new Map<number, string[]>();
      const current = new Map<string, number>();
      for (let step = 0; step < 400; step++) {
        const name = `n${Math.floor(random() * 20)}`;
        const stored = collection.get(name);
        if (stored !== undefined && random() < 0.4) {
          log.delete(collection, stored);
          current.delete(name);
        } else {
          log.write(collection, (revision) =>
            StoredObject.encode(CONFIG_MAPS, { metadata: { name } }, revision),
          );
          current.set(name, log.revision);
        }
        truth.set(log.revision, [...current].map(([key, revision]) => `${key}@${revision}`).toSorted());
      }
      let reachable = 0;
      for (const [revision, expected] of truth) {
        const snapshot = collection.snapshot(revision, random() < 0.5);
        if (revision < collection.history.floor) {
          assert.equal(snapshot, undefined);
          continue;
        }
        reachable++;
        const seen = snapshot?.objects.map((object) => `${object.identity.key}@${object.revision}`);
        assert.deepEqual(seen?.toSorted(), expected);
        const keys = snapshot?.objects.map(({ identity }) => identity.key) ?? [];
        assert.deepEqual(keys, keys.toSorted(), 'in the order of keys');
      }
      assert.equal(reachable, 151, 'the window and the revision before it');
    });
  }

  it('of a list in pages expires when the window has passed it', () => {
    const log = new EventLog({ eventsMax: 3, bytesMax: 1e9 }, 1);
    const collection = log.collection(CONFIG_MAPS);
    const write = (): StoredObject =>
      log.write(collection, (revision) =>
        StoredObject.encode(CONFIG_MAPS, { metadata: { name: 'a' } }, revision),
      );
    write();
    const revision = log.revision;
    assert.notEqual(collection.snapshot(revision, true), undefined);
    for (let count = 0; count < 4; count++) write();
    assert.equal(collection.snapshot(revision, true), undefined);
  });
});
