/** Relists: what handlers receive, what queries return, what memory stays. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { DeltaKind } from '../../../../src/shared/record/delta.ts';
import { SnapshotCursor, emptyDelivery } from '../../../../src/replica/store/deliveries.ts';
import { borrowed, wireObject } from './objects.ts';
import type { ObjectSpec } from './objects.ts';
import { ScriptedReplica, lines } from './scripted-replica.ts';

function at(name: string, version: number): ObjectSpec {
  return { name, version, spec: { text: 'x'.repeat(100) } };
}

function started(...specs: ObjectSpec[]): ScriptedReplica {
  const replica = new ScriptedReplica();
  replica.relist(...specs);
  replica.takeLog();
  return replica;
}

describe('the notifications of a relist', () => {
  test('C4 C10 are, of the first one, additions in list order, all of the initial list', () => {
    const replica = new ScriptedReplica();
    assert.equal(replica.replica.hasSynced, false);
    replica.relist(at('c', 3), at('a', 1), at('b', 2));
    assert.deepEqual(replica.takeLog(), ['add! c@3', 'add! a@1', 'add! b@2']);
    assert.equal(replica.replica.hasSynced, true);
  });

  test('C4 C10 C14 are, of a later one, deletions and then changes in list order, none of the initial list', () => {
    const replica = started(at('a', 1), at('gone', 2), at('b', 3), at('same', 4));
    replica.relist(at('new', 9), at('b', 8), at('same', 4), at('a', 7));
    assert.deepEqual(replica.takeLog(), [
      'lost gone@2',
      'add new@9',
      'update b@3>8',
      'update same@4>4',
      'update a@1>7',
    ]);
  });

  test('C10 of a first relist that was aborted and repeated still count as the initial list', () => {
    const replica = new ScriptedReplica();
    replica.begin();
    replica.list(at('a', 1));
    replica.abort();
    assert.equal(replica.replica.hasSynced, false);
    replica.begin();
    replica.list(at('a', 1));
    replica.begin();
    replica.list(at('a', 1), at('b', 2));
    replica.end();
    assert.deepEqual(replica.takeLog(), ['add! a@1', 'add! b@2']);
  });

  const histories: readonly (readonly [string, (replica: ScriptedReplica) => void, string[]])[] = [
    [
      'C3 C7 of a change during it is one, with the state before the relist as the old one',
      (replica) => {
        replica.list(at('a', 3), at('b', 2));
        replica.put(at('a', 4), at('b', 5), at('new', 6), at('new', 7));
      },
      ['update a@1>4', 'update b@2>5', 'add new@7'],
    ],
    [
      'C7 C14 of a deletion during it is one, although the list lacks the object as well',
      (replica) => {
        replica.remove(at('b', 5));
        replica.list(at('a', 1));
      },
      ['lost b@2', 'update a@1>1'],
    ],
    [
      'C3 C7 of an object deleted and created again during it are a loss and an addition',
      (replica) => {
        replica.list(at('b', 2), at('a', 1));
        replica.remove(at('a', 5));
        replica.put(at('a', 6));
        replica.remove(at('a', 7));
        replica.put(at('a', 8));
      },
      ['lost a@1', 'update b@2>2', 'add a@8'],
    ],
    [
      'C7 of an object that was created and deleted during it do not exist',
      (replica) => {
        replica.list(at('a', 1), at('b', 2), at('short', 2));
        replica.remove(at('short', 3));
      },
      ['update a@1>1', 'update b@2>2'],
    ],
  ];
  for (const [title, history, expected] of histories) {
    test(title, () => {
      const replica = started(at('a', 1), at('b', 2));
      replica.begin();
      history(replica);
      replica.end();
      assert.deepEqual(replica.takeLog(), expected);
      assert.equal(replica.indexer.getByKey('short'), undefined);
      assert.ok(replica.dispose());
    });
  }
});

describe('queries during a relist', () => {
  test('C17 do not take the version of a bookmark for the version of the old state', () => {
    const replica = started(at('a', 1));
    replica.begin();
    replica.replica.control(DeltaKind.Bookmark, 0, '3000');
    assert.equal(replica.indexer.lastStoreSyncResourceVersion(), '1000');
    replica.abort();
    replica.replica.control(DeltaKind.Bookmark, 0, '3001');
    assert.equal(replica.indexer.lastStoreSyncResourceVersion(), '3001');
  });

  test('C15 find the same entry for an unchanged object, without new bytes', () => {
    const replica = started(at('a', 1), at('b', 2));
    const [a, b] = [replica.get('a'), replica.get('b')];
    const { liveBytes } = replica.owner.slabs;
    replica.relist(at('b', 2), at('a', 1));
    assert.ok(a && b);
    assert.equal(replica.get('a'), a);
    assert.equal(replica.get('b'), b);
    assert.ok(replica.dispose());
    assert.equal(replica.owner.slabs.liveBytes, liveBytes);
  });

  test('C5 return the old state until all missing objects are found, a few at a time', () => {
    const names = Array.from({ length: 2000 }, (_, number) => `p${number}`);
    const replica = started(...names.map((name) => at(name, 1)));
    // Free ordinals, which are no missing objects.
    for (const name of names.slice(500, 1000)) replica.remove(at(name, 2));
    replica.takeLog();
    replica.begin();
    replica.list(at('p7', 1));
    let calls = 0;
    while (!replica.replica.control(DeltaKind.ReplaceEnd, 2, '2000')) {
      calls++;
      assert.equal(replica.indexer.size, 1500);
      assert.deepEqual(replica.takeLog(), []);
    }
    assert.ok(calls >= 5, `${calls} calls`);
    assert.deepEqual(replica.indexer.listKeys(), ['p7']);
    const gone = names.filter((name, number) => name !== 'p7' && (number < 500 || number >= 1000));
    const lost = replica.takeLog().filter((line) => line.startsWith('lost'));
    assert.deepEqual(new Set(lost), new Set(gone.map((name) => `lost ${name}@1`)));
    assert.equal(lost.length, gone.length);
    assert.ok(replica.dispose());
  });
});

describe('the memory after a relist', () => {
  test('C21 a handler that is slow to join keeps the state it joined, and no later one', () => {
    const replica = started(at('a', 1), at('b', 2));
    const slow = new SnapshotCursor(replica.replica, 'join');
    for (let version = 10; version < 60; version += 2) replica.relist(at('a', version), at('b', version + 1));
    while (replica.replica.dispose());
    const perObject = replica.get('a')?.length ?? 0;
    const { liveBytes } = replica.owner.slabs;
    assert.ok(liveBytes <= 5 * perObject, `${liveBytes} bytes for 4 objects of ${perObject}`);
    const out = emptyDelivery();
    assert.ok(slow.next(out) && out.newEntry);
    const { newEntry } = out;
    assert.deepEqual(
      borrowed(newEntry, '', () => newEntry.object),
      wireObject(at('a', 1)),
    );
    newEntry.dropReference();
    assert.deepEqual(lines(slow), ['add! b@2']);
    assert.ok(replica.dispose());
  });
});
