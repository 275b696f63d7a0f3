/** Rules of definitions (`x-kubernetes-validations`): thirty rules, each with an object that keeps it and one that breaks it. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Answer } from './client.ts';
import { DEFINITIONS, Definitions, causes, versionOf } from './definitions.ts';
import { Fixture, ok } from './fixture.ts';
import type { Target } from './target.ts';

const TEXT = { type: 'string' };
const INTEGER = { type: 'integer' };
const NUMBER = { type: 'number' };
const FLAG = { type: 'boolean' };
type Schema = Readonly<Record<string, unknown>>;

function listOf(items: object, more: object = {}): Schema {
  return { type: 'array', items, maxItems: 20, ...more };
}

function mapOf(additionalProperties: object, more: object = {}): Schema {
  return { type: 'object', additionalProperties, maxProperties: 10, ...more };
}

function ruled(schema: object, ...rules: readonly (string | object)[]): Schema {
  const given = rules.map((rule) => (typeof rule === 'string' ? { rule } : rule));
  return { ...schema, 'x-kubernetes-validations': given };
}

function objectOf(properties: object, ...rules: readonly (string | object)[]): Schema {
  return ruled({ type: 'object', properties }, ...rules);
}

/** By default the cause of the refusal is the rule of the spec, which is the only one. */
type Case = readonly [spec: Schema, values: readonly [kept: object, broken: object], ...causes: string[]];

const CASES: Readonly<Record<string, Case>> = {
  'integers are compared': [
    objectOf({ min: INTEGER, max: INTEGER }, 'self.min <= self.max'),
    [
      { min: 1, max: 2 },
      { min: 3, max: 2 },
    ],
  ],
  'a message': [
    objectOf({ a: INTEGER }, { rule: 'self.a > 10', message: 'a must be big' }),
    [{ a: 11 }, { a: 1 }],
    'FieldValueInvalid spec: Invalid value: a must be big',
  ],
  'a message expression': [
    objectOf(
      { a: INTEGER },
      { rule: 'self.a > 10', messageExpression: '"small" + (self.a > 5 ? "!" : "?")' },
    ),
    [{ a: 11 }, { a: 1 }],
    'FieldValueInvalid spec: Invalid value: small?',
  ],
  'a message expression that fails': [
    objectOf(
      { a: INTEGER, l: listOf({ ...TEXT, maxLength: 5 }) },
      { rule: 'self.a > 10', messageExpression: '"x" + self.l[5]' },
    ),
    [{ a: 11 }, { a: 1, l: [] }],
  ],
  'the reason Forbidden': [
    objectOf({ a: INTEGER }, { rule: 'self.a > 10', reason: 'FieldValueForbidden', message: 'no' }),
    [{ a: 11 }, { a: 1 }],
    'FieldValueForbidden spec: Forbidden: no',
  ],
  'the reason Required, with a path': [
    objectOf(
      { a: INTEGER, b: TEXT },
      { rule: 'has(self.b)', reason: 'FieldValueRequired', fieldPath: '.b', message: 'b is needed' },
    ),
    [{ b: 'x' }, { a: 1 }],
    'FieldValueRequired spec.b: Required value: b is needed',
  ],
  'the reason Duplicate': [
    objectOf({ a: INTEGER }, { rule: 'self.a > 10', reason: 'FieldValueDuplicate' }),
    [{ a: 11 }, { a: 1 }],
    'FieldValueDuplicate spec: Duplicate value',
  ],
  'a text': [
    objectOf({ a: ruled(TEXT, "self.startsWith('x')") }),
    [{ a: 'xy' }, { a: 'y' }],
    'FieldValueInvalid spec.a: Invalid value: "y": failed rule: self.startsWith(\'x\')',
  ],
  'a number': [
    objectOf({ a: ruled(INTEGER, 'self % 2 == 0') }),
    [{ a: 2 }, { a: 3 }],
    'FieldValueInvalid spec.a: Invalid value: 3: failed rule: self % 2 == 0',
  ],
  'a list': [
    objectOf({ l: ruled(listOf(TEXT), 'self.all(x, x.size() > 1)') }),
    [{ l: ['aa'] }, { l: ['a', 'bb'] }],
    'FieldValueInvalid spec.l: Invalid value: failed rule: self.all(x, x.size() > 1)',
  ],
  'an item': [
    objectOf({ l: listOf(objectOf({ n: TEXT }, "self.n != 'bad'")) }),
    [{ l: [{ n: 'a' }] }, { l: [{ n: 'a' }, { n: 'bad' }] }],
    "FieldValueInvalid spec.l[1]: Invalid value: failed rule: self.n != 'bad'",
  ],
  'an entry of a map': [
    objectOf({ m: mapOf(ruled(TEXT, "self != 'bad'")) }),
    [{ m: { a: 'x' } }, { m: { a: 'bad' } }],
    'FieldValueInvalid spec.m[a]: Invalid value: "bad": failed rule: self != \'bad\'',
  ],
  'the keys of a map': [
    objectOf({ m: mapOf(TEXT, ruled({}, "self.all(k, k.startsWith('a'))")) }),
    [{ m: { a: 'x' } }, { m: { b: 'x' } }],
    "FieldValueInvalid spec.m: Invalid value: failed rule: self.all(k, k.startsWith('a'))",
  ],
  exists_one: [
    objectOf({ l: listOf(objectOf({ d: FLAG })) }, 'self.l.exists_one(x, has(x.d) && x.d)'),
    [{ l: [{ d: true }, {}] }, { l: [{}] }],
  ],
  'a condition': [
    objectOf({ t: TEXT, a: TEXT }, "self.t == 'A' ? has(self.a) : !has(self.a)"),
    [{ t: 'A', a: 'x' }, { t: 'A' }],
  ],
  membership: [objectOf({ t: TEXT }, "self.t in ['a', 'b']"), [{ t: 'a' }, { t: 'c' }]],
  'a pattern': [objectOf({ t: TEXT }, "self.t.matches('^[a-z]+$')"), [{ t: 'abc' }, { t: 'A1' }]],
  'the size of a text in characters': [
    objectOf({ t: TEXT }, 'size(self.t) == 2'),
    [{ t: 'é😀' }, { t: 'abc' }],
  ],
  'a floating point number': [objectOf({ n: NUMBER }, 'self.n < 1.5'), [{ n: 1 }, { n: 1.5 }]],
  'a field that is absent': [
    objectOf({ a: INTEGER, b: INTEGER }, 'self.a < self.b'),
    [{ a: 1, b: 2 }, { a: 1 }],
    'FieldValueInvalid spec: Invalid value: "object": no such key: b evaluating rule: self.a < self.b',
  ],
  'a division by zero': [
    objectOf({ a: INTEGER, b: INTEGER }, 'self.a / self.b > 1'),
    [
      { a: 4, b: 2 },
      { a: 1, b: 0 },
    ],
    'FieldValueInvalid spec: Invalid value: "object": division by zero evaluating rule: self.a / self.b > 1',
  ],
  'names that need an escape': [
    objectOf(
      { 'a-b': INTEGER, namespace: TEXT, 'x.y': INTEGER },
      "self.a__dash__b > 1 && self.__namespace__ != '' && self.x__dot__y == 1",
    ),
    [
      { 'a-b': 2, namespace: 'n', 'x.y': 1 },
      { 'a-b': 1, namespace: 'n', 'x.y': 1 },
    ],
  ],
  'filter and map': [
    objectOf({ l: listOf(INTEGER) }, 'self.l.filter(x, x > 2).map(x, x * 2).all(x, x < 20)'),
    [{ l: [1, 5] }, { l: [1, 15] }],
  ],
  'functions of lists': [
    objectOf(
      { l: listOf(INTEGER) },
      'self.l.isSorted() && self.l.sum() < 10 && self.l.max() < 6 && self.l.min() > 0',
    ),
    [{ l: [1, 2] }, { l: [1, 7] }],
  ],
  'functions of texts': [
    objectOf(
      { t: TEXT },
      "self.t.lowerAscii().replace('b', 'x').indexOf('x') == 1 && self.t.find('[0-9]+') == '12'",
    ),
    [{ t: 'aB12' }, { t: 'ab' }],
  ],
  'an integer or a text': [
    objectOf(
      { p: { 'x-kubernetes-int-or-string': true } },
      "type(self.p) == int ? self.p > 0 : self.p.endsWith('%')",
    ),
    [{ p: '5%' }, { p: 0 }],
  ],
  'a default': [objectOf({ a: { ...INTEGER, default: 5 } }, 'self.a == 5'), [{}, { a: 4 }]],
  'two rules': [
    objectOf({ a: INTEGER }, 'self.a > 1', { rule: 'self.a > 2', message: 'second' }),
    [{ a: 3 }, { a: 0 }],
    'FieldValueInvalid spec: Invalid value: failed rule: self.a > 1',
    'FieldValueInvalid spec: Invalid value: second',
  ],
  'durations and times': [
    objectOf(
      { d: { ...TEXT, format: 'duration' }, t: { ...TEXT, format: 'date-time' } },
      "self.d < duration('1h') && self.t > timestamp('2020-01-01T00:00:00Z')",
    ),
    [
      { d: '5m', t: '2021-01-01T00:00:00Z' },
      { d: '2h', t: '2021-01-01T00:00:00Z' },
    ],
  ],
  'a quantity': [
    objectOf({ q: TEXT }, "quantity(self.q).isLessThan(quantity('1Gi'))"),
    [{ q: '100Mi' }, { q: '2Gi' }],
  ],
  'optional fields': [
    objectOf({ a: objectOf({ b: INTEGER }) }, 'self.?a.?b.orValue(3) > 2'),
    [{}, { a: { b: 1 } }],
  ],
  'a value of a wrong type, before any rule': [
    objectOf({ a: INTEGER }, 'self.a > 1'),
    [{ a: 2 }, { a: 'x' }],
    'FieldValueInvalid <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
    'FieldValueTypeInvalid spec.a: Invalid value: "string": spec.a in body must be of type integer: "string"',
  ],
};

/** Returns the causes of a case whose schema is a field of the spec: by default the one rule is broken. */
function causesAt(field: string, [spec, , ...given]: Case): readonly string[] {
  const [{ rule = '' } = {}] = (spec['x-kubernetes-validations'] ?? []) as readonly {
    readonly rule?: string;
  }[];
  const wanted = given.length > 0 ? given : [`FieldValueInvalid spec: Invalid value: failed rule: ${rule}`];
  return wanted.map((cause) => cause.replaceAll(/\bspec(?=[.:[])/g, `spec.${field}`));
}

const TRANSITIONS: Schema = {
  l: listOf(
    { ...objectOf({ k: TEXT, v: INTEGER }, 'self.v >= oldSelf.v'), required: ['k'] },
    { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] },
  ),
  once: ruled(TEXT, { rule: 'self == oldSelf', message: 'immutable' }),
  first: ruled(TEXT, { rule: "oldSelf.hasValue() || self == 'first'", optionalOldSelf: true }),
};

export function ruleSemantics(target: () => Promise<Target>): void {
  describe('the rules of a definition', () => {
    const fixture = Fixture.use(target, 'together');
    const definitions = new Definitions(fixture);
    const cases = Object.entries(CASES).map(([what, row], index) => ({ what, row, field: `c${index}` }));
    before(async () => {
      const fields = Object.fromEntries(cases.map(({ field, row: [spec] }) => [field, spec]));
      await definitions.establish('gadgets', 'Gadget', [versionOf(objectOf({ ...fields, ...TRANSITIONS }))]);
    });
    after(() => definitions.removeAll('gadgets'));
    const create = (name: string, spec: object): Promise<Answer> => definitions.create('Gadget', name, spec);

    for (const { what, row, field } of cases) {
      const [, [kept, broken]] = row;
      it(`are evaluated: ${what}`, async () => {
        const answer = await create(`kept-${field}`, { [field]: kept });
        assert.equal(answer.status, 201, answer.text);
        const refused = await create(`broken-${field}`, { [field]: broken });
        assert.deepEqual(causes(refused), causesAt(field, row));
      });
    }

    it('compare with the value before the update, and find an item by its keys', async () => {
      const started = ok(await create('a', { once: 'x', l: [{ k: 'a', v: 1 }], first: 'first' }));
      const path = definitions.objects('gadgets', started.metadata.name);
      const patch = (spec: object): Promise<Answer> => fixture.client.mergePatch(path, { spec });
      assert.deepEqual(causes(await patch({ once: 'y' })), [
        'FieldValueInvalid spec.once: Invalid value: "y": immutable',
      ]);
      ok(
        await patch({
          l: [
            { k: 'b', v: 0 },
            { k: 'a', v: 2 },
          ],
        }),
      );
      assert.deepEqual(causes(await patch({ l: [{ k: 'a', v: 1 }] })), [
        'FieldValueInvalid spec.l[0]: Invalid value: failed rule: self.v >= oldSelf.v',
      ]);
      ok(await patch({ once: null }));
      ok(await patch({ once: 'z' }));
    });

    it('see an optional value before a creation, if they ask for it', async () => {
      const [refused = ''] = causes(await create('b', { first: 'second' }));
      assert.match(
        refused,
        /^FieldValueInvalid spec\.first: Invalid value: "second": failed rule: oldSelf\.hasValue\(\)/,
      );
      ok(await create('c', { first: 'first' }));
      await fixture.patch(definitions.objects('gadgets', 'c'), { spec: { first: 'second' } });
    });

    it('that are not CEL, call an unknown function or lack a message are refused with the definition', async () => {
      for (const [rule, why] of [
        ['self.a >', /rule: Invalid value: .*: compilation failed: /],
        ['frob(self.a)', /rule: Invalid value: .*: compilation failed: /],
        [
          'self.a > 1\n&& self.a < 5',
          /message: Required value: message must be specified if rule contains line breaks$/,
        ],
      ] as const) {
        const body = definitions.definition('wrongs', 'Wrong', [versionOf(objectOf({ a: INTEGER }, rule))]);
        const found = causes(await fixture.client.post(DEFINITIONS, body));
        assert.match(found.join(), why);
      }
    });
  });
}
