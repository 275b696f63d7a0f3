/** The schema of a custom resource: defaults, unknown fields, and the words in which a broken rule is reported. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Answer } from './client.ts';
import { Definitions, causes, version } from './definitions.ts';
import { Fixture, ok, refused } from './fixture.ts';
import type { Target } from './target.ts';

export function schemaSemantics(target: () => Promise<Target>): void {
  describe('the schema of a custom resource', () => {
    const fixture = Fixture.use(target, 'together');
    const definitions = new Definitions(fixture);
    let number = 0;
    const create = (spec: object, query = ''): Promise<Answer> => {
      const metadata = { name: `w-${number++}` };
      const object = definitions.object('Widget', { metadata, spec });
      return fixture.client.post(`${definitions.objects('widgets')}${query}`, object);
    };
    before(() => definitions.establish('widgets', 'Widget', [version('v1', { storage: true })]));
    after(() => definitions.removeAll('widgets'));

    it('fills defaults, removes unknown fields and nulls, and warns', async () => {
      const given = {
        replicas: 1,
        unknown: { a: 1 },
        plain: null,
        note: null,
        parts: [{ id: 'x', more: 1 }],
      };
      const answer = await create(given);
      const parts = [{ id: 'x', weight: 1 }];
      assert.deepEqual(ok(answer).spec, { replicas: 1, size: 'small', note: null, parts });
      const warning = String(answer.headers['warning']);
      assert.match(warning, /299 - "unknown field \\"spec\.unknown\\""/);
      assert.match(warning, /299 - "unknown field \\"spec\.parts\[0\]\.more\\""/);
    });

    it('keeps unknown fields where it says so, and the metadata of embedded objects', async () => {
      const free = { a: { b: [1] } };
      const template = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'x', labels: { a: 'b' } },
        other: 1,
      };
      const { spec } = ok(await create({ replicas: 1, free, template }));
      assert.deepEqual(spec?.['free'], free);
      const { other: _, ...kept } = template;
      assert.deepEqual(spec?.['template'], kept);
    });

    it('refuses unknown fields when the request asks for it', async () => {
      const answer = await create({ replicas: 1, unknown: 1 }, '?fieldValidation=Strict');
      refused(answer, 400, /strict decoding error: unknown field "spec\.unknown"$/);
    });

    for (const [what, spec, expected] of REFUSED) {
      it(`refuses ${what}, with the field and the reason`, async () => {
        const answer = await create(spec);
        assert.deepEqual(causes(answer), expected);
      });
    }

    it('needs the kind of an object in the body, unlike that of a built-in resource', async () => {
      const answer = await fixture.client.post(definitions.objects('widgets'), { metadata: {} });
      const message = `the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing in '{"metadata":{}}' ({"metadata":{}})`;
      refused(answer, 400, message);
    });

    it('also applies to updates and patches', async () => {
      const { metadata } = ok(await create({ replicas: 1 }));
      const path = definitions.objects('widgets', metadata.name);
      const patched = await fixture.client.mergePatch(path, { spec: { replicas: 11 } });
      const why = 'spec.replicas in body should be less than or equal to 10';
      assert.deepEqual(causes(patched), [`FieldValueInvalid spec.replicas: Invalid value: 11: ${why}`]);
      const put = await fixture.client.put(path, definitions.object('Widget', { metadata, spec: {} }));
      assert.deepEqual(causes(put), ['FieldValueRequired spec.replicas: Required value']);
      refused(put, 422, /^Widget\.sem-\w+\.example\.com "w-\d+" is invalid: spec\.replicas: Required value$/);
    });
  });
}

const REFUSED: readonly (readonly [string, object, readonly string[]])[] = [
  ['a missing field', {}, ['FieldValueRequired spec.replicas: Required value']],
  [
    'a value of another type',
    { replicas: 'one' },
    [
      'FieldValueTypeInvalid spec.replicas: Invalid value: "string": spec.replicas in body must be of type integer: "string"',
    ],
  ],
  [
    'a number that is too small',
    { replicas: 0 },
    [
      'FieldValueInvalid spec.replicas: Invalid value: 0: spec.replicas in body should be greater than or equal to 1',
    ],
  ],
  [
    'a value that is not in the enumeration',
    { replicas: 1, size: 'huge' },
    ['FieldValueNotSupported spec.size: Unsupported value: "huge": supported values: "small", "large"'],
  ],
  [
    'text that does not match',
    { replicas: 1, name: 'ABC' },
    [`FieldValueInvalid spec.name: Invalid value: "ABC": spec.name in body should match '^[a-z]+$'`],
  ],
  [
    'text that is too short',
    { replicas: 1, name: 'a' },
    ['FieldValueInvalid spec.name: Invalid value: "a": spec.name in body should be at least 2 chars long'],
  ],
  [
    'text that is too long',
    { replicas: 1, name: 'abcdef' },
    ['FieldValueTooLong spec.name: Too long: may not be more than 5 bytes'],
  ],
  [
    'a time that is none',
    { replicas: 1, since: 'today' },
    [
      'FieldValueTypeInvalid spec.since: Invalid value: "today": spec.since in body must be of type date-time: "today"',
    ],
  ],
  [
    'too many items',
    { replicas: 1, parts: [{ id: 'a' }, { id: 'b' }, { id: 'c' }] },
    ['FieldValueTooMany spec.parts: Too many: 3: must have at most 2 items'],
  ],
  [
    'too few items',
    { replicas: 1, parts: [] },
    ['FieldValueInvalid spec.parts: Invalid value: 0: spec.parts in body should have at least 1 items'],
  ],
  [
    'a missing field of an item',
    { replicas: 1, parts: [{ id: 'a' }, {}] },
    ['FieldValueRequired spec.parts[1].id: Required value'],
  ],
  [
    'a value of a map that has another type',
    { replicas: 1, labels: { a: 1 } },
    [
      'FieldValueTypeInvalid spec.labels.a: Invalid value: "integer": spec.labels.a in body must be of type string: "integer"',
    ],
  ],
  [
    'a map with too many entries',
    { replicas: 1, labels: { a: '1', b: '2', c: '3' } },
    ['FieldValueTooMany spec.labels: Too many: 3: must have at most 2 items'],
  ],
  [
    'an object that fits two of the alternatives',
    { replicas: 1, one: { a: 'a', b: 'b' } },
    [
      'FieldValueInvalid <nil>: Invalid value: "": "spec.one" must validate one and only one schema (oneOf). Found 2 valid alternatives',
    ],
  ],
];
