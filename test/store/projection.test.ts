/** Projections: the array a shard wrote, read lazily, shared by entries and therefore frozen. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import { Projector } from '../../src/json/projection.ts';
import { Projection } from '../../src/store/projection.ts';

/** As the shard writes it and the merge reads it: bytes, one latin1 character each. */
function projected(object: unknown, fields: readonly string[] = []): Projection {
  const bytes = Buffer.from(JSON.stringify(object));
  const out = Buffer.alloc(4096);
  const end = new Projector(fields).project(bytes, 0, bytes.length, out, 0);
  assert.ok(end > 0);
  return new Projection(out.toString('latin1', 0, end));
}

describe('a projection', () => {
  test('gives what the shard extracted', () => {
    const projection = projected(
      {
        metadata: {
          uid: 'u-1',
          generation: 7,
          deletionTimestamp: '2026-11-20T10:00:00Z',
          labels: { app: 'web' },
          ownerReferences: [{ uid: 'no' }, { uid: 'rs-1', controller: true }],
        },
        spec: { nodeName: 'node-7', ports: [1, 2] },
      },
      ['spec.nodeName', 'spec.ports', 'status.phase'],
    );
    assert.equal(projection.uid, 'u-1');
    assert.equal(projection.generation, 7);
    assert.equal(projection.deletionTimestamp, '2026-11-20T10:00:00Z');
    assert.equal(projection.controllerUid, 'rs-1');
    assert.deepEqual(projection.labels, { app: 'web' });
    assert.equal(projection.field(0), 'node-7');
    assert.deepEqual(projection.field(1), [1, 2]);
    assert.equal(projection.field(2), undefined);
  });

  test('gives text of every alphabet, from UTF-8 bytes and from escapes', () => {
    const labels = { größe: 'naïve', 表: '\u{1F9F5}', plain: 'x\u2028y', latin: '\u00e9' };
    assert.deepEqual(projected({ metadata: { uid: 'ü', labels } }).labels, labels);
    assert.equal(projected({ metadata: { uid: 'ü', labels } }).uid, 'ü');
    assert.equal(new Projection(String.raw`["\u00fc",null,null,null,null]`).uid, 'ü');
  });

  test('of nothing has defaults and no fields', () => {
    for (const projection of [new Projection(''), new Projection('[]'), projected({ metadata: {} })]) {
      assert.equal(projection.uid, '');
      assert.equal(projection.generation, undefined);
      assert.equal(projection.deletionTimestamp, undefined);
      assert.equal(projection.controllerUid, undefined);
      assert.deepEqual(projection.labels, {});
      assert.equal(projection.field(0), undefined);
      assert.equal(projection.moduleValues(0), undefined);
    }
  });

  test('that has values of the wrong type says that they are absent', () => {
    const projection = projected({
      metadata: { uid: 5, generation: 'x', deletionTimestamp: 1, labels: 'no' },
    });
    assert.equal(projection.uid, '');
    assert.equal(projection.generation, undefined);
    assert.equal(projection.deletionTimestamp, undefined);
    assert.deepEqual(projection.labels, {});
  });

  test('has the values of index modules behind the declared fields', () => {
    const projection = new Projection('["u",null,null,null,null,"node-7",{"byImage":["a","b"]}]');
    assert.deepEqual(projection.moduleValues(1), { byImage: ['a', 'b'] });
    assert.equal(projection.field(0), 'node-7');
  });

  test('cannot be written to at any depth: every entry of the same fields shares it', () => {
    const projection = projected(
      { metadata: { labels: { app: 'web' } }, spec: { template: { images: ['a'] } } },
      ['spec.template'],
    );
    const labels = projection.labels as Record<string, string>;
    const template = projection.field(0) as { images: string[] };
    assert.throws(() => (labels['app'] = 'x'), TypeError);
    assert.throws(() => template.images.push('b'), TypeError);
    assert.throws(() => ((new Projection('').labels as Record<string, string>)['app'] = 'x'), TypeError);
    assert.deepEqual(projection.labels, { app: 'web' });
  });
});
