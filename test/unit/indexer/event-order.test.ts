/** The latest version of a key decides whether an event is new. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DeltaKind } from '../../../src/shared/record/delta.ts';
import { ShardTwin } from './shard-twin.ts';

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
