/** The schema of a custom resource: formats, numbers, alternatives, and values that an update leaves as they were. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json, JsonObject } from '../../../../src/tools/apiserver/store/json.ts';
import { StructuralSchema } from '../../../../src/tools/apiserver/crd/schema.ts';
import { validatorOf } from '../../../../src/tools/apiserver/crd/validation.ts';

/** Returns the causes for a value of a field `a`, with the value before the update. */
function causes(node: JsonObject, a: Json, before?: Json): string[] {
  const check = validatorOf({ type: 'object', properties: { a: node } });
  const previous = before === undefined ? undefined : { metadata: {}, a: before };
  return check({ metadata: {}, a }, previous).map(({ field, body }) => `${field}: ${body}`);
}

const FORMATS: Readonly<Record<string, readonly [valid: readonly string[], invalid: readonly string[]]>> = {
  date: [['2024-02-29'], ['2023-02-29', '2024-02-30', '24-1-1', '']],
  'date-time': [
    ['2024-02-28T23:59:59Z', '2024-02-28t00:00:00.5+01:00'],
    ['2024-02-30T00:00:00Z', '2024-01-01T24:00:00Z'],
  ],
  uri: [
    ['http://a/b', '/a', 'urn:x', 'http://a/%41'],
    ['a/b', '', 'http://a b/', '/%zz', 'http://a:b/'],
  ],
  ipv4: [
    ['1.2.3.4', '01.2.3.4'],
    ['1.2.3', '1.2.3.256', '::1'],
  ],
  ipv6: [
    ['::1', 'fe80::1'],
    ['1.2.3.4', 'fe80::1%eth0'],
  ],
  cidr: [
    ['10.0.0.0/8', '01.2.3.4/32', '::/0'],
    ['10.0.0.0', '10.0.0.0/33', '::/129'],
  ],
  mac: [
    ['01:23:45:67:89:ab', '01-23-45-67-89-ab', '0123.4567.89ab'],
    ['01:23:45:67:89', '01:23:45:67:89-ab'],
  ],
  duration: [
    ['1h5m', '-1.5s', '22 ns', '3 days', '0'],
    ['1', 'x', '1 year'],
  ],
  email: [
    ['a@b.c', 'A B <a@b>'],
    ['a', 'a@', 'a b@c'],
  ],
  hostname: [
    ['a.example.com', 'a-b', 'é'],
    ['-a', 'a..b', 'a'.repeat(64)],
  ],
  uuid: [['123E4567-e89b-12d3-a456-426614174000', '123e4567e89b12d3a456426614174000'], ['123e4567']],
  uuid4: [['123e4567-e89b-42d3-a456-426614174000'], ['123e4567-e89b-12d3-a456-426614174000']],
  byte: [
    ['YQ==', 'YWI='],
    ['', 'Y', 'YQ=', 'Y==='],
  ],
  isbn: [
    ['0321751043', '978-0321751041'],
    ['0321751044', '9780321751042'],
  ],
  creditcard: [['4111 1111 1111 1111'], ['4111111111111112', '1']],
  hexcolor: [['#fff', 'A0B1C2'], ['#ff']],
  rgbcolor: [['rgb(0, 12,255)'], ['rgb(256,0,0)']],
  'k8s-short-name': [['a-b'], ['A', 'a.b']],
  frob: [['anything'], []],
};

describe('the schema of a custom resource', () => {
  for (const [format, [valid, invalid]] of Object.entries(FORMATS)) {
    it(`checks the format ${format} as a server does`, () => {
      const node = { type: 'string', format };
      assert.deepEqual(
        valid.filter((text) => causes(node, text).length > 0),
        [],
      );
      assert.deepEqual(
        invalid.filter((text) => causes(node, text).length === 0),
        [],
      );
    });
  }

  it('validates below fields with the names of keywords', () => {
    const node = {
      type: 'object',
      properties: { not: { type: 'object', properties: { n: { type: 'integer' } }, required: ['m'] } },
    };
    assert.deepEqual(causes(node, { not: { n: 'text' } }), [
      'a.not.n: Invalid value: "string": a.not.n in body must be of type integer: "string"',
      'a.not.m: Required value',
    ]);
  });

  it('compares integers with the integer part of a limit, and fractions within a tolerance', () => {
    assert.deepEqual(causes({ type: 'number', multipleOf: 0.1 }, 0.3), []);
    assert.deepEqual(causes({ type: 'number', maximum: 3.5 }, 4), [
      'a: Invalid value: 4: a in body should be less than or equal to 3',
    ]);
    assert.deepEqual(causes({ type: 'integer', format: 'int32' }, 2 ** 31), [
      '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in a',
    ]);
  });

  it('explains a failed alternative with the errors of the closest schema', () => {
    const oneOf = [{ required: ['x'] }, { properties: { y: { minimum: 3 } }, required: ['y'] }];
    assert.deepEqual(causes({ type: 'object', properties: {}, oneOf }, { y: 1 }), [
      '<nil>: Invalid value: "": "a" must validate one and only one schema (oneOf). Found none valid',
      'a.y: Invalid value: 1: a.y in body should be greater than or equal to 3',
    ]);
  });

  it('keeps unchanged items with keys and unchanged entries valid when it becomes stricter', () => {
    const good = { type: 'string', enum: ['good'] };
    const list = {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['n'],
      items: { type: 'object', properties: { n: { type: 'string' }, v: good } },
    };
    const old = { n: 'old', v: 'bad' };
    assert.deepEqual(causes(list, [{ n: 'new', v: 'good' }, old], [old]), []);
    assert.equal(causes(list, [{ n: 'new', v: 'bad' }, old], [old]).length, 1);
    assert.deepEqual(
      causes(
        { type: 'object', additionalProperties: good },
        { 'x.y/z': 'bad', b: 'good' },
        { 'x.y/z': 'bad' },
      ),
      [],
    );
    assert.equal(causes({ type: 'array', items: good }, ['bad', 'good'], ['bad']).length, 1);
  });

  it('ignores a default of null, and drops nulls of entries that it does not allow', () => {
    const m = { type: 'object', additionalProperties: { type: 'string' } };
    const schema = new StructuralSchema({
      type: 'object',
      properties: { a: { type: 'string', nullable: true, default: null }, m },
    });
    assert.deepEqual(schema.coerce({ metadata: {}, m: { x: null, y: 'z' } }), {
      metadata: {},
      m: { y: 'z' },
    });
  });

  it('matches patterns in linear time', () => {
    assert.equal(causes({ type: 'string', pattern: '^([a-z0-9]+)*$' }, `${'a'.repeat(50_000)}!`).length, 1);
  });
});
