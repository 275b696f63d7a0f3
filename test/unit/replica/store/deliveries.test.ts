/** Cursors of joins, resyncs and differences of relists, read slowly while objects change. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { NO_ROW } from '../../../../src/replica/store/columns.ts';
import { Difference, SnapshotCursor, emptyDelivery } from '../../../../src/replica/store/deliveries.ts';
import { at, newEntry, newOwner } from './objects.ts';
import type { ObjectSpec } from './objects.ts';
import { ScriptedReplica, lines } from './scripted-replica.ts';

function started(...specs: ObjectSpec[]): ScriptedReplica {
  const replica = new ScriptedReplica();
  replica.relist(...specs);
  return replica;
}

describe('a join', () => {
  test('C9 C10 delivers the state at its position, in order, however late it is read', () => {
    const replica = started(at('a', 1), at('b', 2), at('c', 3), at('d', 4));
    const join = new SnapshotCursor(replica.replica, 'join');
    assert.equal(join.remaining, 4);
    assert.deepEqual(lines(join, 1), ['add! a@1']);
    replica.put(at('a', 10), at('b', 11), at('b', 12), at('d', 13), at('e', 14));
    replica.remove(at('d', 15));
    replica.remove(at('c', 16));
    replica.put(at('c', 17));
    assert.equal(join.remaining, 3);
    assert.deepEqual(lines(join), ['add! b@2', 'add! d@4', 'add! c@3']);
    assert.equal(join.remaining, 0);
    assert.ok(replica.dispose());
  });

  test('C9 is exact across a relist', () => {
    const replica = started(at('a', 1), at('b', 2));
    const join = new SnapshotCursor(replica.replica, 'join');
    replica.begin();
    replica.list(at('b', 7));
    assert.deepEqual(lines(join, 1), ['add! a@1']);
    replica.end();
    while (replica.replica.dispose());
    assert.deepEqual(lines(join), ['add! b@2']);
    assert.ok(replica.dispose());
  });

  test('C21 counts the bytes of superseded objects that only it still needs', () => {
    const replica = started(at('a', 1), at('b', 2));
    const join = new SnapshotCursor(replica.replica, 'join');
    assert.equal(join.heldBytes, 0);
    const length = replica.get('a')?.length ?? 0;
    replica.put(at('a', 5), at('a', 6));
    assert.equal(join.heldBytes, length);
    replica.remove(at('b', 7));
    assert.equal(join.heldBytes, 2 * length);
    lines(join, 1);
    replica.put(at('a', 8));
    assert.equal(join.heldBytes, length, 'it no longer needs what it has delivered');
    lines(join);
    assert.equal(join.heldBytes, 0);
  });
});

describe('a resync', () => {
  test('C12 C13 delivers every object as an update of itself, and none whose deletion is queued, also if it exists again', () => {
    const replica = started(at('a', 1), at('b', 2), at('c', 3), at('d', 4));
    const resync = new SnapshotCursor(replica.replica, 'resync');
    assert.deepEqual(lines(resync, 1), ['update a@1>1']);
    replica.put(at('b', 10), at('c', 11));
    replica.remove(at('c', 12));
    replica.remove(at('d', 13));
    replica.put(at('d', 14));
    assert.equal(resync.remaining, 1);
    assert.deepEqual(lines(resync), ['update b@2>2']);
    assert.ok(replica.dispose());
  });
});

describe('a cursor whose handler is removed', () => {
  for (const kind of ['join', 'resync'] as const) {
    test(`C8 (${kind}) releases every kept entry and stops observing`, () => {
      const replica = started(at('a', 1), at('b', 2), at('c', 3));
      const cursor = new SnapshotCursor(replica.replica, kind);
      replica.put(at('a', 10));
      replica.remove(at('b', 11));
      lines(cursor, 1);
      cursor.close();
      cursor.close();
      replica.put(at('c', 12));
      assert.equal(replica.replica.live.cursors.size, 0);
      assert.equal(cursor.heldBytes, 0);
      assert.ok(replica.dispose());
    });
  }
});

describe('the difference of a relist', () => {
  /** Returns a difference in which a stays, b changes, c is new, and gone was deleted. */
  function difference(): { difference: Difference; liveBytes: () => number } {
    const owner = newOwner();
    const made = new Difference(owner.table, false);
    const same = newEntry(owner, at('a', 1));
    made.addDeletion(newEntry(owner, at('gone', 2)).row);
    made.addChange(same.row, same.row);
    made.addChange(newEntry(owner, at('b', 3)).row, newEntry(owner, at('b', 5)).row);
    made.addChange(NO_ROW, newEntry(owner, at('c', 4)).row);
    return { difference: made, liveBytes: () => owner.slabs.liveBytes };
  }

  test('C12 C21 delivers unchanged objects only to listeners whose resync is due', () => {
    const { difference: both, liveBytes } = difference();
    const due = both.cursor(true);
    const notDue = both.cursor(false);
    both.releasePassed();
    assert.ok(due.heldBytes > 0, 'a deleted and a superseded object');
    assert.equal(due.heldBytes, both.supersededBytes);
    assert.deepEqual(lines(due), ['lost gone@2', 'update a@1>1', 'update b@3>5', 'add c@4']);
    assert.equal(due.heldBytes, 0);
    assert.deepEqual(lines(notDue), ['lost gone@2', 'update b@3>5', 'add c@4']);
    both.releasePassed();
    assert.equal(liveBytes(), 0);
  });

  test('C12 also treats an object that came twice in a list as unchanged', () => {
    const replica = new ScriptedReplica({
      listener: {
        changed: () => {},
        replaced: (made) => received.push(...lines(made.cursor(false))),
      },
    });
    const received: string[] = [];
    replica.relist(at('a', 1));
    replica.relist(at('a', 1), at('a', 1));
    assert.deepEqual(received, ['add! a@1']);
  });

  test('C21 counts the bytes of superseded objects, also when a change is replaced', () => {
    const owner = newOwner();
    const made = new Difference(owner.table, false);
    const old = newEntry(owner, at('a', 1));
    const place = made.addChange(old.row, old.row);
    assert.equal(made.supersededBytes, 0, 'nothing changed');
    made.replaceChange(place, newEntry(owner, at('a', 2)).row);
    assert.equal(made.supersededBytes, old.length);
    made.replaceChange(place, newEntry(owner, at('a', 3)).row);
    assert.equal(made.supersededBytes, old.length, 'once');
    const added = made.addChange(NO_ROW, newEntry(owner, at('b', 4)).row);
    made.replaceChange(added, NO_ROW);
    assert.equal(made.supersededBytes, old.length, 'it was not there before');
    const gone = newEntry(owner, at('gone', 5));
    made.addDeletion(gone.row);
    assert.equal(made.supersededBytes, old.length + gone.length);
    made.replaceChange(place, NO_ROW);
    assert.equal(made.supersededBytes, old.length + gone.length, 'deleted: delivered with its old state');
  });

  test('C12 lets a reader that skips all changes check the clock at intervals', () => {
    const owner = newOwner();
    const made = new Difference(owner.table, false);
    const entries = Array.from({ length: 5000 }, (_, n) => newEntry(owner, at(`n${n}`, n + 1)));
    for (const { row } of entries) made.addChange(row, row);
    made.addDeletion(newEntry(owner, at('gone', 1)).row);
    const cursor = made.cursor(false);
    const out = emptyDelivery();
    let calls = 0;
    let received = 0;
    for (; cursor.next(out); calls++) if (out.oldEntry ?? out.newEntry) received++;
    assert.equal(received, 1);
    assert.ok(calls > 15, `${calls} calls for 5000 places`);
    assert.equal(cursor.remaining, 0);
  });

  test('C7 releases entries when the slowest reader has passed them, and no earlier', () => {
    const { difference: both, liveBytes } = difference();
    const bytes = liveBytes();
    const fast = both.cursor(true);
    const slow = both.cursor(true);
    both.releasePassed();
    lines(fast);
    assert.equal(liveBytes(), bytes);
    both.releasePassed();
    assert.equal(liveBytes(), bytes, 'the slow reader has read nothing');
    assert.deepEqual(lines(slow, 2), ['lost gone@2', 'update a@1>1']);
    assert.equal(both.releasePassed(1), true, 'a little at a time');
    assert.equal(both.releasePassed(1), false);
    assert.ok(liveBytes() < bytes && liveBytes() > 0);
    assert.equal(both.isReleased, false);
    slow.close();
    both.releasePassed();
    assert.equal(liveBytes(), 0);
    assert.equal(both.isReleased, true);
  });

  test('C8 without readers, or after the last one left early, keeps no entries', () => {
    const alone = difference();
    alone.difference.releasePassed();
    assert.equal(alone.liveBytes(), 0);
    const left = difference();
    const cursor = left.difference.cursor(true);
    left.difference.releasePassed();
    assert.ok(left.liveBytes() > 0);
    lines(cursor, 1);
    cursor.close();
    left.difference.releasePassed();
    assert.equal(left.liveBytes(), 0);
  });
});
