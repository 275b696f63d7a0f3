/** A deletion that a server repeats is delivered once, also for an object that was never seen. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { RECENT_DELETIONS_MAX, RecentDeletions } from '../../../../src/replica/store/replica.ts';
import { ScriptedReplica } from './scripted-replica.ts';

describe('a deletion', () => {
  test('C3 that is repeated is delivered once, and so is an older one', () => {
    const replica = new ScriptedReplica();
    replica.relist({ name: 'a', version: 1 });
    replica.takeLog();
    replica.remove({ name: 'a', version: 4 });
    replica.remove({ name: 'a', version: 4 });
    replica.remove({ name: 'a', version: 3 });
    assert.deepEqual(replica.takeLog(), ['delete a@4']);
    assert.equal(replica.replica.live.resourceVersion, '4');
    assert.ok(replica.dispose());
  });

  test('C3 C47 of an object that was never seen is delivered, and once', () => {
    const replica = new ScriptedReplica();
    replica.relist();
    replica.remove({ name: 'never', version: 7 });
    replica.remove({ name: 'never', version: 7 });
    assert.deepEqual(replica.takeLog(), ['delete never@7']);
  });

  test('C3 of an object that was created again is another one', () => {
    const replica = new ScriptedReplica();
    replica.relist({ name: 'a', version: 1 });
    replica.remove({ name: 'a', version: 2 });
    replica.put({ name: 'a', version: 3 });
    replica.takeLog();
    replica.remove({ name: 'a', version: 4 });
    replica.remove({ name: 'a', version: 4 });
    assert.deepEqual(replica.takeLog(), ['delete a@4']);
  });

  test('is remembered until there are too many later ones', () => {
    const deletions = new RecentDeletions();
    for (let number = 0; number < RECENT_DELETIONS_MAX; number++) deletions.add(`key-${number}`, number);
    deletions.add('key-0', 5000);
    deletions.add('one more', 5001);
    assert.equal(deletions.has('key-0', 5000), true);
    assert.equal(deletions.has('key-1', 1), false);
    assert.equal(deletions.has('key-2', 2), true);
    assert.equal(deletions.has('key-2', 3), false);
  });

  test('with a version that has no order equals only one with the same version', () => {
    const deletions = new RecentDeletions();
    deletions.add('a', 'x7');
    assert.equal(deletions.has('a', 'x7'), true);
    assert.equal(deletions.has('a', 'x6'), false);
  });
});
