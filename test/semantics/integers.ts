/** Integers that JavaScript would round: in custom resources, in built-in kinds, and in patches. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Answer } from './client.ts';
import { DEFINITIONS, Definitions, causes, versionOf } from './definitions.ts';
import { Fixture, ok, refused } from './fixture.ts';
import type { Target } from './target.ts';

const LONG = '9007199254740993';
export const MERGE = 'application/merge-patch+json';
export const STRATEGIC = 'application/strategic-merge-patch+json';
export const JSON_PATCH = 'application/json-patch+json';
export const APPLY = 'application/apply-patch+yaml';

export function integerSemantics(target: () => Promise<Target>): void {
  customIntegerSemantics(target);
  builtInIntegerSemantics(target);
}

const integer = { type: 'integer' };
const SPEC = {
  type: 'object',
  properties: {
    plain: integer,
    long: { type: 'integer', format: 'int64' },
    short: { type: 'integer', format: 'int32' },
    double: { type: 'number' },
    either: { 'x-kubernetes-int-or-string': true },
    any: { 'x-kubernetes-preserve-unknown-fields': true },
    greatest: { type: 'integer', maximum: 9_007_199_254_740_992 },
    // A server keeps limits as floats, so this is the limit 9007199254740992.
    least: { type: 'integer', minimum: 'LONG' },
    listed: { type: 'integer', enum: [1, 'LONG'] },
    triple: { type: 'integer', multipleOf: 3 },
    ruled: { type: 'integer', 'x-kubernetes-validations': [{ rule: `self != ${LONG}` }] },
    set: { type: 'array', 'x-kubernetes-list-type': 'set', items: integer },
    map: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['key'],
      items: { type: 'object', required: ['key'], properties: { key: integer, value: { type: 'string' } } },
    },
    object: { type: 'object', properties: { a: integer, b: integer } },
    text: { type: 'string' },
    preset: { type: 'integer', default: 'LONG' },
  },
};

/** A kind with integers in every position of a schema. */
export class Numbers {
  readonly #fixture: Fixture;
  readonly #definitions: Definitions;
  #count = 0;

  constructor(fixture: Fixture) {
    this.#fixture = fixture;
    this.#definitions = new Definitions(fixture);
    before(async () => {
      const { client } = fixture;
      const definition = this.#definitions.definition('bigs', 'Big', [versionOf(SPEC)]);
      ok(await client.post(DEFINITIONS, JSON.stringify(definition).replaceAll('"LONG"', LONG)));
      await this.#definitions.until(this.path(), ({ status }) => status === 200);
    });
    after(() => this.#definitions.removeAll('bigs'));
  }

  path(name = ''): string {
    return this.#definitions.objects('bigs', name);
  }

  /** Returns the text of an object. */
  text(spec: string, name = `big-${this.#count++}`): string {
    const { group } = this.#definitions;
    return `{"apiVersion":"${group}/v1","kind":"Big","metadata":{"name":"${name}"},"spec":${spec}}`;
  }

  create(spec: string, name?: string, query = ''): Promise<Answer> {
    return this.#fixture.client.post(`${this.path()}${query}`, this.text(spec, name));
  }

  async patch(name: string, contentType: string, body: string, query = ''): Promise<Answer> {
    return this.#fixture.client.request('PATCH', `${this.path(name)}${query}`, { body, contentType });
  }
}

/** Returns the spec of an answer as text. */
function specOf(answer: Answer): string {
  ok(answer);
  return /"spec":(\{.*\})\}/.exec(answer.text)?.[1] ?? '';
}

/** Fields and the digits of integers that they keep. */
const KEPT: readonly (readonly [field: string, given: string, kept?: string])[] = [
  ['plain', LONG],
  ['plain', `-${LONG}`],
  ['long', '9223372036854775807'],
  ['long', '-9223372036854775808'],
  ['double', LONG],
  ['either', LONG],
  ['any', `[{"a":${LONG}}]`],
  ['any', '9223372036854775808', '9223372036854776000'],
  ['double', '-9223372036854775809', '-9223372036854776000'],
  ['double', '1e17', '100000000000000000'],
  ['double', '1.2345678901234567e18', '1234567890123456800'],
  ['double', '9007199254740993.0', '9007199254740992'],
  ['double', '123456789012345678901234567890', '1.2345678901234568e+29'],
  ['plain', '1e3', '1000'],
  ['plain', '-0', '0'],
  ['least', '9007199254740992'],
  ['listed', LONG],
  ['triple', LONG],
  ['ruled', '9007199254740992'],
  ['set', `[9007199254740992,${LONG}]`],
  ['map', `[{"key":9007199254740992},{"key":${LONG}}]`],
];

const UNCHECKED =
  'FieldValueInvalid <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

function mistyped(field: string, type: string, found: string): string {
  const shown = `"${found}"`;
  return `FieldValueTypeInvalid spec.${field}: Invalid value: ${shown}: spec.${field} in body must be of type ${type}: ${shown}`;
}

function outOfRange(field: string, type: string): string {
  return `FieldValueInvalid <nil>: Invalid value: "": Checked value must be of type ${type} in spec.${field}`;
}

/** Values that a schema refuses, and the causes. */
const REFUSED: readonly (readonly [field: string, given: string, causes: readonly string[]])[] = [
  ['short', LONG, [outOfRange('short', 'integer with format int32')]],
  ['plain', '1e17', [UNCHECKED, mistyped('plain', 'integer', 'number')]],
  [
    'long',
    '9223372036854775808',
    [outOfRange('long', 'integer with format int64'), UNCHECKED, mistyped('long', 'int64', 'float64')],
  ],
  ['either', '18446744073709551616', [UNCHECKED, mistyped('either', 'integer,string', 'number')]],
  ['text', LONG, [UNCHECKED, mistyped('text', 'string', 'integer')]],
  [
    'greatest',
    LONG,
    [
      `FieldValueInvalid spec.greatest: Invalid value: ${LONG}: spec.greatest in body should be less than or equal to 9007199254740992`,
    ],
  ],
  [
    'least',
    '-9007199254740993',
    [
      'FieldValueInvalid spec.least: Invalid value: -9007199254740993: spec.least in body should be greater than or equal to 9007199254740992',
    ],
  ],
  [
    'listed',
    '9007199254740992',
    [
      UNCHECKED,
      `FieldValueNotSupported spec.listed: Unsupported value: 9007199254740992: supported values: "1", "${LONG}"`,
    ],
  ],
  [
    'triple',
    '9007199254740992',
    [
      'FieldValueInvalid spec.triple: Invalid value: 9007199254740992: spec.triple in body should be a multiple of 3',
    ],
  ],
  ['ruled', LONG, [`FieldValueInvalid spec.ruled: Invalid value: ${LONG}: failed rule: self != ${LONG}`]],
  ['set', `[${LONG},${LONG}]`, [`FieldValueDuplicate spec.set[1]: Duplicate value: ${LONG}`]],
  [
    'map',
    `[{"key":${LONG}},{"key":${LONG}}]`,
    [`FieldValueDuplicate spec.map[1]: Duplicate value: {"key":${LONG}}`],
  ],
];

function customIntegerSemantics(target: () => Promise<Target>): void {
  describe('an integer of 64 bits', () => {
    const fixture = Fixture.use(target, 'together');
    const numbers = new Numbers(fixture);

    for (const [field, given, kept = given] of KEPT) {
      it(`is exact in a custom resource: ${field} of ${given}`, async () => {
        const answer = await numbers.create(`{"${field}":${given}}`);
        const members = [`"${field}":${kept}`, `"preset":${LONG}`].toSorted();
        assert.equal(specOf(answer), `{${members.join()}}`);
        const stored = await fixture.client.get(numbers.path(answer.body.metadata.name));
        assert.equal(specOf(stored), specOf(answer));
      });
    }

    for (const [field, given, expected] of REFUSED) {
      it(`is compared exactly, and a larger one is a float: ${field} of ${given}`, async () => {
        assert.deepEqual(causes(await numbers.create(`{"${field}":${given}}`)), expected.toSorted());
      });
    }

    it('is exact in lists and watches', async () => {
      const created = await numbers.create(`{"long":${LONG}}`, 'seen');
      assert.match((await fixture.client.get(numbers.path())).text, new RegExp(`"long":${LONG}`));
      const version = created.body.metadata.resourceVersion;
      const stream = await fixture.watch(`${numbers.path()}?watch=1&resourceVersion=${version}`);
      ok(await numbers.patch('seen', MERGE, '{"spec":{"text":"a"}}'));
      // JSON.parse of the client rounds to the even neighbour.
      assert.equal((await stream.next())?.object.spec?.['long'], 9_007_199_254_740_992);
      stream.close();
    });

    it('stays through an update and every type of patch', async () => {
      const { body } = await numbers.create(`{"long":${LONG}}`, 'patched');
      const put = numbers
        .text(`{"long":${LONG},"text":"a"}`, 'patched')
        .replace('"name"', `"resourceVersion":"${body.metadata.resourceVersion}","name"`);
      const updated = await fixture.client.put(numbers.path('patched'), put);
      assert.equal(specOf(updated), `{"long":${LONG},"preset":${LONG},"text":"a"}`);
      assert.equal(updated.body.metadata.generation, 2);
      const kept = await numbers.patch('patched', MERGE, '{"spec":{"text":"b"}}');
      assert.equal(specOf(kept), `{"long":${LONG},"preset":${LONG},"text":"b"}`);
      const operations = [
        `{"op":"test","path":"/spec/long","value":${LONG}}`,
        '{"op":"copy","from":"/spec/long","path":"/spec/double"}',
        '{"op":"replace","path":"/spec/long","value":9007199254740995}',
      ];
      const changed = await numbers.patch('patched', JSON_PATCH, `[${operations.join()}]`);
      assert.equal(specOf(changed), `{"double":${LONG},"long":9007199254740995,"preset":${LONG},"text":"b"}`);
      const other = '[{"op":"test","path":"/spec/long","value":9007199254740996}]';
      assert.equal((await numbers.patch('patched', JSON_PATCH, other)).status, 422);
      const again = await numbers.patch('patched', MERGE, '{"spec":{"long":9007199254740995}}');
      assert.equal(again.body.metadata.resourceVersion, changed.body.metadata.resourceVersion);
    });

    it('is exact in an apply and in the names of its fields', async () => {
      const query = '?fieldManager=one';
      const spec = `{"long":${LONG},"map":[{"key":${LONG},"value":"a"},{"key":9007199254740992,"value":"b"}],"set":[${LONG},9007199254740994]}`;
      const first = await numbers.patch('owned', APPLY, numbers.text(spec, 'owned'), query);
      assert.equal(specOf(first), spec.replace('"set"', `"preset":${LONG},"set"`));
      for (const field of [`k:{\\"key\\":${LONG}}`, 'v:9007199254740994'])
        assert.ok(first.text.includes(field));
      const twice = numbers.text(`{"set":[${LONG},${LONG}]}`, 'twice');
      const why = `.spec.set: duplicate entries for key [=${LONG}]`;
      const { body } = await numbers.patch('twice', APPLY, twice, query);
      assert.ok(body.message?.endsWith(why), body.message);
    });

    it('is exact in YAML, in every base', async () => {
      const start = numbers.text('0', 'yaml').replace('"spec":0}', '"spec":');
      const list = `[${LONG}, 9_007_199_254_740_993, 0x7fffffffffffffff, -0x8000000000000000, 0777777777777777777777, 9007199254740993.0, 1e17, 18446744073709551616]`;
      const answer = await numbers.patch('yaml', APPLY, `${start} {any: ${list}}}`, '?fieldManager=one');
      const kept = `[${LONG},${LONG},9223372036854775807,-9223372036854775808,9223372036854775807,9007199254740992,100000000000000000,18446744073709552000]`;
      assert.equal(specOf(answer), `{"any":${kept},"preset":${LONG}}`);
    });
  });
}

function builtInIntegerSemantics(target: () => Promise<Target>): void {
  describe('an integer of a built-in kind', () => {
    const fixture = Fixture.use(target);
    const path = (name = ''): string =>
      `/apis/apps/v1/namespaces/${fixture.namespace}/controllerrevisions${name}`;
    const revision = (digits: string): string =>
      `{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"one"},"data":{"a":"b"},"revision":${digits}}`;
    const read = async (answer: Promise<Answer>): Promise<string | undefined> => {
      const { text } = await answer;
      return /"revision":(\d+)/.exec(text)?.[1];
    };

    it('of 64 bits is exact, through every type of patch', async () => {
      assert.equal(await read(fixture.client.post(path(), revision(LONG))), LONG);
      assert.match((await fixture.client.get(path())).text, new RegExp(`"revision":${LONG}`));
      for (const [contentType, body, digits] of [
        [MERGE, '{"revision":9007199254740995}', '9007199254740995'],
        [STRATEGIC, '{"revision":9007199254740997}', '9007199254740997'],
        [
          JSON_PATCH,
          '[{"op":"test","path":"/revision","value":9007199254740997},{"op":"replace","path":"/revision","value":9007199254740999}]',
          '9007199254740999',
        ],
        [APPLY, revision('9007199254741001'), '9007199254741001'],
      ] as const) {
        const url = `${path('/one')}?fieldManager=test${contentType === APPLY ? '&force=true' : ''}`;
        const answer = fixture.client.request('PATCH', url, { body, contentType });
        assert.equal(await read(answer), digits, contentType);
      }
    });

    it('has 64 bits or 32 bits, by its type', async () => {
      const answer = await fixture.client.post(path(), revision('9223372036854775808'));
      refused(
        answer,
        400,
        /cannot unmarshal number 9223372036854775808 into Go struct field ControllerRevision\.revision of type int64$/,
      );
      const leases = `/apis/coordination.k8s.io/v1/namespaces/${fixture.namespace}/leases`;
      const lease = await fixture.client.post(
        leases,
        `{"metadata":{"name":"a"},"spec":{"leaseDurationSeconds":${LONG}}}`,
      );
      refused(
        lease,
        400,
        `Lease in version "v1" cannot be handled as a Lease: json: cannot unmarshal number ${LONG} into Go struct field LeaseSpec.spec.leaseDurationSeconds of type int32`,
      );
      const services = `/api/v1/namespaces/${fixture.namespace}/services`;
      const ports = `[{"port":80,"targetPort":${LONG}}]`;
      const service = await fixture.client.post(
        services,
        `{"metadata":{"name":"a"},"spec":{"ports":${ports}}}`,
      );
      refused(
        service,
        400,
        /cannot unmarshal number 9007199254740993 into Go struct field ServicePort\.spec\.ports\.targetPort of type int32$/,
      );
    });
  });
}
