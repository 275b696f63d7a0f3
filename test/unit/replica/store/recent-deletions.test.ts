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

  test('C3 of an object that was created again is a new deletion', () => {
    const replica = new ScriptedReplica();
    replica.relist({ name: 'a', version: 1 });
    replica.remove({ name: 'a', version: 2 });
    replica.put({ name: 'a', version: 3 });
    replica.takeLog();
    replica.remove({ name: 'a', version: 4 });
    replica.remove({ name: 'a', version: 4 });
    assert.deepEqual(replica.takeLog(), ['delete a@4']);
  });

  test('C3 is remembered for 256 later ones, and forgotten after twice as many', () => {
    const replica = new ScriptedReplica();
    replica.relist();
    const remove = (name: string, version: number): void => replica.remove({ name, version });
    remove('first', 1);
    for (let version = 2; version < 256; version++) remove(`key-${version}`, version);
    replica.takeLog();
    remove('first', 1);
    assert.deepEqual(replica.takeLog(), []);
    for (let version = 256; version < 513; version++) remove(`key-${version}`, version);
    replica.takeLog();
    remove('first', 1);
    remove('key-500', 600);
    assert.deepEqual(
      replica.takeLog(),
      ['delete first@1', 'delete key-500@600'],
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
