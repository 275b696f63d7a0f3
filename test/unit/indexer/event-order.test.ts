/** The latest version of a key decides whether an event is new. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DeltaKind } from '../../../src/shared/record/delta.ts';
import type { Identity } from '../../../src/replica/store/extracted-fields.ts';
import { ShardTwin } from './shard-twin.ts';

const LARGE = '9007199254740993';

function identity(name: string): Identity {
  return { key: name, namespace: '', name };
}

describe('a shard', () => {
  it('drops a repeated event, and drops and reports an event older than its predecessor', async () => {
    const twin = await ShardTwin.attached();
    const send = (kind: DeltaKind, resourceVersion: string): boolean => {
      const before = twin.main.history.length;
      twin.deliver({ kind, name: 'a', resourceVersion });
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

  it('C3 takes over the versions of the shard that it succeeds', async () => {
    const twin = await ShardTwin.attached({}, { isSuccessor: true });
    await twin.inherit([
      { id: 0, identity: identity('a'), version: 5 },
      { id: 1, identity: identity('b'), version: LARGE },
    ]);
    twin.object({ kind: DeltaKind.Added, name: 'a', resourceVersion: '5' });
    twin.object({ name: 'a', resourceVersion: '4' });
    twin.object({ name: 'b', resourceVersion: LARGE });
    twin.deliver({ name: 'b', resourceVersion: '9007199254740992' });
    assert.deepEqual(twin.main.history, []);
    assert.equal(twin.main.warnings.length, 2);
  });

  it('C3 takes over the listed versions of the shard that it succeeds within a relist', async () => {
    const twin = await ShardTwin.attached({}, { isSuccessor: true });
    const epoch = 1;
    await twin.inherit([{ id: 0, identity: identity('a'), version: 7 }], epoch);
    twin.object({ kind: DeltaKind.Replaced, name: 'a', resourceVersion: '6' });
    twin.control(DeltaKind.ReplaceEnd, epoch, '8');
    twin.deliver({ name: 'a', resourceVersion: '6' });
    assert.deepEqual(
      twin.main.history.map(({ resourceVersion }) => resourceVersion),
      [6],
    );
  });

  it('ends at an object between an aborted list and the next', async () => {
    const twin = await ShardTwin.attached();
    twin.control(DeltaKind.ReplaceBegin, 1);
    twin.object({ kind: DeltaKind.Replaced, name: 'a', resourceVersion: '9' });
    twin.control(DeltaKind.ReplaceAbort, 1);
    twin.settle();
    twin.offerObject({ name: 'a', resourceVersion: '7' });
    twin.commit();
    assert.throws(() => twin.shard.doWork(), { code: 'ERR_KUBELOOM_ASSERTION' });
  });

  it('accepts a listed object, even an older one', async () => {
    const twin = await ShardTwin.attached();
    twin.object({ kind: DeltaKind.Added, name: 'a', resourceVersion: '50' });
    twin.control(DeltaKind.ReplaceBegin, 1);
    twin.object({ kind: DeltaKind.Replaced, name: 'a', resourceVersion: '7' });
    twin.control(DeltaKind.ReplaceEnd, 1, '7');
    twin.deliver({ name: 'a', resourceVersion: '8' });
    assert.equal(twin.main.last.resourceVersion, 8);
  });
});
