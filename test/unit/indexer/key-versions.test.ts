/** The latest version of a key decides whether an event is new. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KeyVersions } from '../../../src/indexer/last-states.ts';
import { DeltaKind } from '../../../src/shared/record/delta.ts';
import type { Identity } from '../../../src/replica/store/entry.ts';
import { ShardTwin } from './shard-twin.ts';

describe('versions of keys', () => {
  it('are in order as numbers, as longer texts, and between the two', () => {
    const versions = new KeyVersions();
    versions.set(200, 9, undefined);
    assert.equal(versions.orderOf(200, 9, undefined), 'same');
    assert.equal(versions.orderOf(200, 8, undefined), 'older');
    assert.equal(versions.orderOf(200, 10, undefined), 'newer');
    assert.equal(versions.orderOf(200, -1, '9007199254740993'), 'newer');
    versions.set(200, -1, '9007199254740993');
    assert.equal(versions.orderOf(200, -1, '9007199254740992'), 'older');
    assert.equal(versions.orderOf(200, -1, '9007199254740993'), 'same');
    assert.equal(versions.orderOf(200, 5, undefined), 'older');
    versions.set(200, 5, undefined);
    assert.equal(versions.orderOf(200, 6, undefined), 'newer');
  });

  it('without an order are the same or newer', () => {
    const versions = new KeyVersions();
    versions.set(0, -1, 'abc');
    assert.equal(versions.orderOf(0, -1, 'abb'), 'newer');
    assert.equal(versions.orderOf(0, -1, 'abc'), 'same');
    assert.equal(versions.orderOf(0, 7, undefined), 'newer');
    versions.set(0, -1, '007');
    assert.equal(versions.orderOf(0, -1, '006'), 'newer');
  });
});

describe('a shard', () => {
  const json = '{"metadata":{"name":"a"}}';

  it('drops an event that comes twice or after a newer one, and reports the latter', async () => {
    const twin = await ShardTwin.attached();
    const send = (kind: DeltaKind, resourceVersion: string): boolean => {
      const before = twin.main.history.length;
      twin.deliver({ kind, name: 'a', resourceVersion, json });
      return twin.main.history.length > before;
    };
    assert.equal(send(DeltaKind.Added, '5'), true);
    assert.equal(send(DeltaKind.Added, '5'), false);
    assert.equal(send(DeltaKind.Modified, '4'), false);
    assert.equal(send(DeltaKind.Deleted, '3'), false);
    assert.equal(send(DeltaKind.Modified, '2'), false);
    assert.equal(send(DeltaKind.Modified, '6'), true);
    assert.equal(send(DeltaKind.Deleted, '6'), true, 'some servers delete with the last version');
    assert.equal(send(DeltaKind.Added, '1'), true, 'nothing is known of it any more');
    const codes = twin.main.warnings.map(({ code, message }) => [code, /\d+ so far/.exec(message)?.[0]]);
    assert.deepEqual(codes, [
      ['ERR_KUBELOOM_OUT_OF_ORDER', '1 so far'],
      ['ERR_KUBELOOM_OUT_OF_ORDER', '2 so far'],
    ]);
  });

  it('C3 that succeeds another takes over its versions', async () => {
    const twin = await ShardTwin.attached({}, { isSuccessor: true });
    const identity = (name: string): Identity => ({ key: name, namespace: '', name });
    await twin.inherit([
      { id: 0, identity: identity('a'), live: 5, listed: undefined },
      { id: 1, identity: identity('b'), live: '9007199254740993', listed: undefined },
    ]);
    twin.object({ kind: DeltaKind.Added, name: 'a', resourceVersion: '5', json });
    twin.object({ kind: DeltaKind.Modified, name: 'a', resourceVersion: '4', json });
    twin.object({ kind: DeltaKind.Modified, name: 'b', resourceVersion: '9007199254740993', json });
    twin.deliver({ kind: DeltaKind.Modified, name: 'b', resourceVersion: '9007199254740992', json });
    assert.deepEqual(twin.main.history, []);
    assert.equal(twin.main.warnings.length, 2);
  });

  it('C3 that succeeds another within a relist takes over the listed versions', async () => {
    const twin = await ShardTwin.attached({}, { isSuccessor: true });
    const identity = (name: string): Identity => ({ key: name, namespace: '', name });
    const epoch = 1;
    await twin.inherit(
      [
        { id: 0, identity: identity('a'), live: 5, listed: 7 },
        { id: 1, identity: identity('b'), live: undefined, listed: '9007199254740993' },
        { id: 2, identity: identity('c'), live: 6, listed: undefined },
      ],
      epoch,
    );
    twin.control(DeltaKind.ReplaceEnd, epoch, '8');
    const send = (name: string, resourceVersion: string): void =>
      twin.object({ kind: DeltaKind.Modified, name, resourceVersion, json });
    send('a', '7');
    send('a', '6');
    send('b', '9007199254740993');
    twin.settle();
    assert.deepEqual(twin.main.history, []);
    assert.deepEqual(twin.main.swept, ['c']);
    send('a', '8');
    twin.settle();
    assert.equal(twin.main.last.resourceVersion, 8);
  });

  it('C3 drops the versions of an aborted relist, because the watch may resume before it', async () => {
    const twin = await ShardTwin.attached();
    twin.object({ kind: DeltaKind.Added, name: 'a', resourceVersion: '5', json });
    twin.control(DeltaKind.ReplaceBegin, 1);
    twin.object({ kind: DeltaKind.Replaced, name: 'a', resourceVersion: '9', json });
    twin.control(DeltaKind.ReplaceAbort, 1);
    twin.deliver({ kind: DeltaKind.Modified, name: 'a', resourceVersion: '7', json });
    assert.equal(twin.main.last.resourceVersion, 7);
  });

  it('accepts a listed object, even an older one', async () => {
    const twin = await ShardTwin.attached();
    twin.object({ kind: DeltaKind.Added, name: 'a', resourceVersion: '50', json });
    twin.control(DeltaKind.ReplaceBegin, 1);
    twin.object({ kind: DeltaKind.Replaced, name: 'a', resourceVersion: '7', json });
    twin.control(DeltaKind.ReplaceEnd, 1, '7');
    twin.deliver({ kind: DeltaKind.Modified, name: 'a', resourceVersion: '8', json });
    assert.equal(twin.main.last.resourceVersion, 8);
  });
});
