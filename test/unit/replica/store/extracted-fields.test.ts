/** Extracted fields: the array that a shard wrote, parsed lazily, shared by entries and therefore frozen. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { Extractor } from '../../../../src/kube/json/extraction.ts';
import { SharedFields } from '../../../../src/replica/store/extracted-fields.ts';
import type { FieldValues, ObjectFacts } from '../../../../src/replica/store/extracted-fields.ts';
import { factsOf } from './objects.ts';

/** Returns the array as the shard writes it and the merge reads it: one latin1 character a byte. */
const IDENTITY = { key: 'default/web', namespace: 'default', name: 'web' };

function extractedOf(text: string, shared?: SharedFields, previous?: ObjectFacts): ObjectFacts {
  return factsOf(IDENTITY, text, shared, previous);
}

function extractedFrom(object: unknown, fields: readonly string[] = []): ObjectFacts {
  const bytes = Buffer.from(JSON.stringify(object));
  const out = Buffer.alloc(4096);
  const end = new Extractor(fields).project(bytes, 0, bytes.length, out, 0);
  assert.ok(end > 0);
  return extractedOf(out.toString('latin1', 0, end));
}

function valuesOf(fields: FieldValues): unknown[] {
  return [fields.generation, fields.deletionTimestamp, fields.controllerUid, fields.labels];
}

describe('a extracted', () => {
  test('has a field that is deeper than the stack, frozen', () => {
    const depth = 50_000;
    const { fields } = extractedOf(`["u",null,null,null,{},${'['.repeat(depth)}${']'.repeat(depth)}]`);
    assert.ok(Object.isFrozen(fields.field(0)));
  });

  test('has the fields that the shard extracted', () => {
    const extracted = extractedFrom(
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
    const { uid, fields } = extracted;
    assert.deepEqual([uid, ...valuesOf(fields)], ['u-1', 7, '2026-11-20T10:00:00Z', 'rs-1', { app: 'web' }]);
    assert.deepEqual([fields.field(0), fields.field(1), fields.field(2)], ['node-7', [1, 2], undefined]);
  });

  test('has text of every alphabet, from UTF-8 bytes and from escapes', () => {
    const labels = { größe: 'naïve', 表: '\u{1F9F5}', plain: 'x\u2028y', latin: '\u00e9' };
    assert.deepEqual(extractedFrom({ metadata: { uid: 'ü', labels } }).fields.labels, labels);
    assert.equal(extractedFrom({ metadata: { uid: 'ü', labels } }).uid, 'ü');
    assert.equal(extractedOf(String.raw`["\u00fc",null,null,null,null]`).uid, 'ü');
  });

  test('C263 has one uid however a UUID is written', () => {
    const plain = extractedOf('["a0b1c2d3-0000-4000-8000-00000000000f",null,null,null,null]');
    const escaped = extractedOf(
      String.raw`["a0b1c2d3-0000-4000-8000-00000000000\u0066",null,null,null,null]`,
    );
    assert.equal(escaped.uid, plain.uid);
    assert.ok(escaped.hasUid(plain.uid) && escaped.equals(plain) && plain.equals(escaped));
    const other = extractedOf(String.raw`["u\u0066",null,null,null,null]`);
    assert.ok(other.uid === 'uf' && other.hasUid('uf') && !other.equals(plain));
  });

  const wrongTypes = { metadata: { uid: 5, generation: 'x', deletionTimestamp: 1, labels: 'no' } };
  for (const [what, extracted] of [
    ['no array', extractedOf('')],
    ['an empty array', extractedOf('[]')],
    ['no metadata', extractedFrom({ metadata: {} })],
    ['values of the wrong type', extractedFrom(wrongTypes)],
  ] as const) {
    test(`of ${what} has defaults and no fields`, () => {
      const { uid, fields } = extracted;
      assert.deepEqual([uid, ...valuesOf(fields)], ['', undefined, undefined, undefined, {}]);
      assert.deepEqual([fields.field(0), fields.moduleValues(0)], [undefined, undefined]);
    });
  }

  test('has the values of index modules behind the declared fields', () => {
    const extracted = extractedOf('["u",null,null,null,null,"node-7",{"byImage":["a","b"]}]');
    assert.deepEqual(extracted.fields.moduleValues(1), { byImage: ['a', 'b'] });
    assert.equal(extracted.fields.field(0), 'node-7');
  });

  test('cannot be changed at any depth: every entry with the same fields shares it', () => {
    const extracted = extractedFrom(
      { metadata: { labels: { app: 'web' } }, spec: { template: { images: ['a'] } } },
      ['spec.template'],
    );
    const labels = extracted.fields.labels as Record<string, string>;
    const template = extracted.fields.field(0) as { images: string[] };
    assert.throws(() => (labels['app'] = 'x'), TypeError);
    assert.throws(() => template.images.push('b'), TypeError);
    assert.throws(() => ((extractedOf('').fields.labels as Record<string, string>)['app'] = 'x'), TypeError);
    assert.deepEqual(extracted.fields.labels, { app: 'web' });
  });

  test('shows the declared fields as one frozen object of plain members, and no member for an absent field', () => {
    const shared = new SharedFields();
    const paths = ['spec.nodeName', 'status.phase', '__proto__', 'status.conditions'];
    const text = ',null,null,null,null,"node-7",null,{"a":1},[{"type":"Ready"}]]';
    const fields = extractedOf(`["u-1"${text}`, shared).fields.declared(paths);
    assert.equal(extractedOf(`["u-2"${text}`, shared).fields.declared(paths), fields);
    assert.deepEqual(Object.entries(fields), [
      ['spec.nodeName', 'node-7'],
      ['__proto__', { a: 1 }],
      ['status.conditions', [{ type: 'Ready' }]],
    ]);
    assert.equal(Object.getPrototypeOf(fields), Object.prototype);
    assert.throws(() => Object.assign(fields, { 'spec.nodeName': 'x' }), TypeError);
    assert.throws(() => (fields['status.conditions'] as unknown[]).push(1), TypeError);
    assert.deepEqual(extractedOf('').fields.declared(paths), {});
  });

  test('has the uid in the bytes, however it is written, not the uid of the previous state', () => {
    const shared = new SharedFields();
    const before = extractedOf('["u-1",null,null,null,null]', shared);
    const uidAfter = (text: string): string => extractedOf(text, shared, before).uid;
    for (const [token, uid] of [
      ['"u-1"', 'u-1'],
      ['"u-12"', 'u-12'],
      ['"u-"', 'u-'],
      [String.raw`"u-1\""`, 'u-1"'],
      [String.raw`"\u0075-1"`, 'u-1'],
      ['null', ''],
    ] as const) {
      assert.equal(uidAfter(`[${token},null,null,null,null]`), uid);
    }
    assert.equal(uidAfter('["u-1"]'), 'u-1');
    assert.equal(uidAfter(''), '');
  });

  test('is not misled by a previous uid with quotes or backslashes', () => {
    const quoted = extractedOf(String.raw`["u\",null,\"x",null,null,null,null]`);
    assert.equal(quoted.uid, 'u",null,"x');
    const after = extractedOf('["u",null,"x",null,{"app":"web"}]', new SharedFields(), quoted);
    assert.deepEqual([after.uid, after.fields.labels], ['u', { app: 'web' }]);
    const escaped = extractedOf(String.raw`["u\\n",null,null,null,null]`);
    assert.equal(escaped.uid, String.raw`u\n`);
    assert.equal(
      extractedOf(String.raw`["u\n",null,null,null,null]`, new SharedFields(), escaped).uid,
      'u\n',
    );
  });

  test('shares the values of its siblings, parsed once, and keeps those of its previous state', () => {
    const shared = new SharedFields();
    const web = extractedOf('["u-1",null,null,"rs-1",{"app":"web"}]', shared);
    const sibling = extractedOf('["u-2",null,null,"rs-1",{"app":"web"}]', shared);
    const other = extractedOf('["u-3",null,null,"rs-1",{"app":"db"}]', shared);
    assert.equal(sibling.fields.labels, web.fields.labels);
    assert.deepEqual([web.uid, sibling.uid], ['u-1', 'u-2']);
    assert.deepEqual(other.fields.labels, { app: 'db' });
    assert.equal(
      extractedOf('["u-1",null,null,"rs-1",{"app":"web"}]', new SharedFields(), web).fields,
      web.fields,
    );
  });

  test('equals only one with the same uid and the same fields', () => {
    const text = '["u-1",null,null,null,{"app":"web"}]';
    assert.ok(extractedOf(text).equals(extractedOf(text)));
    assert.ok(!extractedOf(text).equals(extractedOf(text.replace('u-1', 'u-2'))));
    assert.ok(!extractedOf(text).equals(extractedOf(text.replace('web', 'db'))));
  });
});

describe('shared fields', () => {
  const text = (app: string): string => `,null,null,null,{"app":"${app}"}]`;

  test('are the latest few thousand: memory does not grow with objects that have nothing in common', () => {
    const shared = new SharedFields();
    const first = shared.of(text('first'));
    for (let index = 1; index < 4096; index++) shared.of(text(`app-${index}`));
    assert.equal(shared.of(text('first')), first);
    for (let index = 0; index < 3 * 4096; index++) shared.of(text(`later-${index}`));
    const last = shared.of(text('last'));
    assert.notEqual(shared.of(text('first')), first);
    assert.equal(shared.of(text('last')), last);
  });

  test('are not kept when they are long', () => {
    const shared = new SharedFields();
    assert.notEqual(shared.of(text('x'.repeat(1024))), shared.of(text('x'.repeat(1024))));
    assert.deepEqual(shared.of(text('x'.repeat(1024))).labels, { app: 'x'.repeat(1024) });
  });
});
