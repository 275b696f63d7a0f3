/** A deletion that a server repeats is delivered once, also for an object that was never seen. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
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

  test('C3 is remembered until 256 later ones', () => {
    const replica = new ScriptedReplica();
    replica.relist();
    const names = Array.from({ length: 256 }, (_, number) => `key-${number}`);
    for (const [number, name] of names.entries()) replica.remove({ name, version: number + 1 });
    replica.remove({ name: 'key-0', version: 5000 });
    replica.remove({ name: 'one more', version: 5001 });
    replica.takeLog();
    replica.remove({ name: 'key-0', version: 5000 });
    replica.remove({ name: 'key-2', version: 3 });
    assert.deepEqual(replica.takeLog(), []);
    replica.remove({ name: 'key-1', version: 2 });
    replica.remove({ name: 'key-3', version: 5 });
    assert.deepEqual(
      replica.takeLog(),
      ['delete key-1@2', 'delete key-3@5'],
      'forgotten, and another deletion',
    );
  });

  test('C3 with a version that has no order repeats only one with the same version', () => {
    const replica = new ScriptedReplica();
    replica.relist();
    for (const version of ['x7', 'x7', 'x6']) replica.remove({ name: 'a', version });
    assert.deepEqual(replica.takeLog(), ['delete a@x7', 'delete a@x6']);
  });
});
