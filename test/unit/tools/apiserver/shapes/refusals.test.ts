/** The words of a real server's refusals, read as tests of values; and refusals of objects by the words in their shapes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isUnset, refusals, refusedFor, testOf } from '../../../../../src/tools/apiserver/shapes/refusals.ts';
import type { ShapeNode } from '../../../../../src/tools/apiserver/shapes/shapes.ts';
import type { Json } from '../../../../../src/tools/apiserver/store/json.ts';

const regex = (start: string, source: string): string =>
  `${start} (e.g. 'x', regex used for validation is '${source}')`;

/** Words, with values that they allow and values that they refuse. */
const WORDS: readonly (readonly [words: string, right: readonly Json[], wrong: readonly Json[]])[] = [
  [regex('name part must consist of alphanumeric characters', '[a-z]+'), ['a', 'b.c/a', 5], ['A', 'a/B']],
  [regex("must be '*' or a label", '[a-z]+'), ['*', 'a'], ['**', 'A']],
  [regex('a lowercase label must consist of letters', '[a-z]([-a-z]*[a-z])?'), ['a-b'], ['a/b', '*', 'a-']],
  ['must have at most 3 characters and match regex ^[a-z]{1,3}$', ['abc'], ['abcd', 'A']],
  ['supported values: "TCP", "a, b"', ['TCP', 'a, b'], ['tcp', 'a', '']],
  ['must be either Exists or Equal', ['Exists', 'Equal'], ['or', 'exists']],
  ["must be 'Never' when restarts are off", ['Never'], ['Always']],
  ['must be between 1 and 65535, inclusive', [1, 65535, 'http'], [0, 65536, -1]],
  ['must be a number between 0 and 0777 (octal)', [0, 511], [512, -1]],
  ['must be in the range 1-100', [1, 100], [0, 101]],
  ['must be positive and less than 10', [1, 10], [0, 11]],
  ['must be greater than 0 and less than 10', [1], [0, 11]],
  ['must be greater than or equal to 2', [2, '3Gi'], [1, '1Gi']],
  ['must be greater than or equal to zero', [0, '0'], [-1, '-1']],
  ['must be a non-negative integer', [0], [-1]],
  ['must be greater than zero', [1, '1m'], [0, '0', -1]],
  ['must be a positive value', [1], [0]],
  ['must be less than or equal to 5', [5, -1], [6]],
  ['must not be greater than 5', [5], [6]],
  ['may not specify a duration less than 10 minutes', [600], [599]],
  ['may not specify a duration less than 30 seconds', [30], [29]],
  ['must be a valid IP address, (e.g. 10.9.8.7)', ['10.9.8.7', '2001:db8::1'], ['10.9.8', '10.9.8.7/8']],
  [
    'must be a valid CIDR value, (e.g. 10.9.8.0/24)',
    ['10.9.8.0/24', '2001:db8::/64'],
    ['10.9.8.0', '10.9.8.0/33', '2001:db8::/129', '10.0.0.0/8/8', 'a/8', '10.0.0.0/x'],
  ],
  ['must be an absolute path', ['/', '/a'], ['a/']],
  ["must start with a '/'", ['/a'], ['a']],
  ['must start with slash', ['/a'], ['a']],
  ['must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)', ['a-1'], ['a_1']],
  ['must contain at least one letter or number (a-z, 0-9)', ['1a'], ['1-1']],
  ['not a valid selector operator', ['In', 'Gt'], ['in', 'Equals']],
  ['must be a domain-prefixed path (such as "acme.io/foo")', ['acme.io/foo', 'a/b'], ['foo', 'a/']],
  ['must be a fully qualified domain and path of the form', ['example.com/b'], ['a/b', 'a.b']],
];

/** A shape with one member of each kind of rule. */
const SHAPE: ShapeNode = {
  properties: {
    apiVersion: { absent: ['Required value'] },
    name: { go: 'string', absent: ['Required value: the name'], refused: ['supported values: "a"'] },
    count: { go: '*int32', absent: ['Invalid value: null: must be set'], refused: ['must be positive'] },
    kind: { absent: ['Required value'] },
    ports: {
      unique: 'name',
      items: { properties: { name: {}, port: { refused: ['must be greater than 0'] } } },
    },
    zones: { unique: '', items: {} },
    limits: { additionalProperties: { refused: ['must be greater than or equal to 0'] } },
    inner: {
      go: 'Inner',
      properties: { mode: { absent: ['Unsupported value: "": supported values: "m"'] } },
    },
    pointed: { go: '*Inner', properties: { mode: { absent: ['Required value: always'] } } },
  },
};
const WHOLE = { name: 'a', count: 1, inner: { mode: 'm' } };

/** Changes of the whole object, with the errors that they cause. */
const OBJECTS: readonly (readonly [change: { readonly [name: string]: Json }, ...errors: string[]])[] = [
  [{}],
  [{ name: '' }, 'FieldValueRequired name: Required value: the name'],
  [{ name: 'b' }, 'FieldValueNotSupported name: Unsupported value: "b": supported values: "a"'],
  [{ count: null }, 'FieldValueInvalid count: Invalid value: null: must be set'],
  [{ count: 0 }, 'FieldValueInvalid count: Invalid value: 0: must be positive'],
  [{ inner: null }, 'FieldValueNotSupported inner.mode: Unsupported value: "": supported values: "m"'],
  [{ pointed: {} }, 'FieldValueRequired pointed.mode: Required value: always'],
  [
    { limits: { cpu: '-1' } },
    'FieldValueInvalid limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
  ],
  [{ zones: ['z', 'y', 'z'] }, 'FieldValueDuplicate zones[2]: Duplicate value: "z"'],
  [{ ports: [{ port: 1 }, { port: 1 }] }],
  [
    {
      ports: [
        { name: 'p', port: 1 },
        { name: 'p', port: 0 },
      ],
    },
    'FieldValueInvalid ports[1].port: Invalid value: 0: must be greater than 0',
    'FieldValueDuplicate ports[1].name: Duplicate value: "p"',
  ],
];

describe('the words of a refusal', () => {
  for (const [words, right, wrong] of WORDS) {
    it(`tell the wrong values: ${words}`, () => {
      const test = testOf(words) ?? assert.fail('the words have no known form');
      assert.deepEqual(
        right.filter((value) => !test(value)),
        [],
      );
      assert.deepEqual(
        wrong.filter((value) => test(value)),
        [],
      );
    });
  }

  it('of no known form tell no value', () => {
    assert.equal(testOf('must be lucky'), undefined);
    assert.deepEqual(refusals('x', { refused: ['must be lucky'] }, 'a'), []);
  });

  it('follow the value in the error, as Go writes the value', () => {
    const shown = (value: Json): string => refusedFor('must be positive', 'a', value).body;
    assert.deepEqual([-1, 'a"', { b: '<' }].map(shown), [
      'Invalid value: -1: must be positive',
      'Invalid value: "a\\"": must be positive',
      'Invalid value: {"b":"\\u003c"}: must be positive',
    ]);
  });
});

describe('the refusals of an object', () => {
  for (const [change, ...errors] of OBJECTS) {
    it(`are ${errors.length}: ${JSON.stringify(change)}`, () => {
      const found = refusals({ ...WHOLE, ...change }, SHAPE, '');
      assert.deepEqual(
        found.map(({ type, field, body }) => `${type} ${field}: ${body}`),
        errors,
      );
    });
  }

  it('do not end in a type that contains itself', () => {
    const schema = { $ref: 'apiextensions.v1.JSONSchemaProps' };
    assert.deepEqual(refusals({ properties: { a: { properties: {} } } }, schema, 's'), []);
  });

  it('count a zero as absent unless a pointer holds the zero', () => {
    for (const zero of ['', 0, [], {}]) {
      assert.equal(isUnset(zero, { go: 'T' }), true);
      assert.equal(isUnset(zero, { go: '*T' }), false);
    }
    assert.equal(isUnset(null, { go: '*T' }), true);
    assert.equal(isUnset(false, { go: 'bool' }), false);
  });
});
