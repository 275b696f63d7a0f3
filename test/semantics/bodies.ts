/** Bodies as bytes: integers that JavaScript would round, members that JSON repeats, and texts that are no JSON. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Answer } from './client.ts';
import { DEFINITIONS, Definitions, causes, versionOf } from './definitions.ts';
import { Fixture, ok, refused } from './fixture.ts';
import type { Target } from './target.ts';

const LONG = '9007199254740993';
const MERGE = 'application/merge-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json';
const JSON_PATCH = 'application/json-patch+json';
const APPLY = 'application/apply-patch+yaml';

export function bodySemantics(target: () => Promise<Target>): void {
  integerSemantics(target);
  builtInIntegerSemantics(target);
  repetitionSemantics(target);
  textSemantics(target);
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
class Numbers {
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

function integerSemantics(target: () => Promise<Target>): void {
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
        /cannot unmarshal number 9223372036854\d+ into Go struct field ControllerRevision\.revision of type int64$/,
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

/** Returns the texts of the warnings of an answer. */
function warningsOf({ headers }: Answer): string[] {
  const text = Buffer.from(String(headers['warning'] ?? ''), 'latin1').toString();
  return [...text.matchAll(/299 - "((?:\\.|[^"\\])*)"/g)].map(([, quoted = '']) =>
    quoted.replaceAll(/\\(.)/g, '$1'),
  );
}

interface Repetition {
  readonly what: string;
  /** A write of a ConfigMap with this name, or of a custom resource. */
  readonly of: 'ConfigMap' | 'Deployment' | 'Big';
  readonly body: string;
  readonly faults: readonly string[];
  /** A part of the object that is stored otherwise. */
  readonly stored: RegExp;
}

const REPETITIONS: readonly Repetition[] = [
  {
    what: 'is named with its path, and objects of a built-in kind are merged',
    of: 'ConfigMap',
    body: '{"metadata":{"name":"NAME","labels":{"a":"1","a":"2"}},"data":{"a":"1"},"data":{"b":"2"},"metadata":{"annotations":{"x":"y"}}}',
    faults: ['duplicate field "metadata.labels.a"', 'duplicate field "data"', 'duplicate field "metadata"'],
    stored: /"labels":\{"a":"2"\},"annotations":\{"x":"y"\}.*"data":\{"a":"1","b":"2"\}/,
  },
  {
    what: 'counts once, among the unknown fields in the order of the text',
    of: 'ConfigMap',
    body: '{"kind":"ConfigMap","zzz":1,"kind":"ConfigMap","metadata":{"name":"NAME"},"zzz":{"a":1,"a":2},"aaa":1,"data":{"a":"1","a":"2","a":"3"},"bbb":1}',
    faults: [
      'unknown field "zzz"',
      'duplicate field "kind"',
      'unknown field "aaa"',
      'duplicate field "data.a"',
      'unknown field "bbb"',
    ],
    stored: /"data":\{"a":"3"\}/,
  },
  {
    what: 'is found beside a colon in a text, an escaped quote and white space',
    of: 'Big',
    body: String.raw`{"any" : {"a\\":":x","b\":":"\":","c":["a:b"],"a\\"
:"y"}}`,
    faults: [String.raw`duplicate field "spec.any.a\\"`],
    stored: /"a\\\\":"y"/,
  },
  {
    what: 'is found in lists, whose items are merged',
    of: 'Deployment',
    body: '{"metadata":{"name":"NAME"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","image":"j"},{"name":"q","image":"q"}],"containers":[{"name":"z","name":"d"}]}}}}',
    faults: [
      'duplicate field "spec.template.spec.containers[0].image"',
      'duplicate field "spec.template.spec.containers"',
      'duplicate field "spec.template.spec.containers[0].name"',
    ],
    stored: /"containers":\[\{"name":"d","image":"j"[^[]*\]/,
  },
  {
    what: 'of a custom resource precedes the unknown fields, and its last value counts',
    of: 'Big',
    body: '{"text":"a","text":"b","zzz":1,"zzz":{"b":1,"b":2},"object":{"a":1},"object":{"b":2},"any":{"q":1,"q":2,"\\ud800":1,"\ufffd":2},"aaa":1}',
    faults: [
      'duplicate field "spec.text"',
      'duplicate field "spec.zzz"',
      'duplicate field "spec.zzz.b"',
      'duplicate field "spec.object"',
      'duplicate field "spec.any.q"',
      'duplicate field "spec.any.\ufffd"',
      'unknown field "spec.aaa"',
      'unknown field "spec.zzz"',
    ],
    stored: /"spec":\{"any":\{"q":2,"\ufffd":2\},"object":\{"b":2\},"preset":9007199254740993,"text":"b"\}/,
  },
];

function repetitionSemantics(target: () => Promise<Target>): void {
  describe('a member that JSON repeats', () => {
    const fixture = Fixture.use(target, 'together');
    const numbers = new Numbers(fixture);
    let number = 0;

    const create = ({ of, body }: Repetition, query: string): Promise<Answer> => {
      const name = `twice-${number++}`;
      if (of === 'Big') return numbers.create(body, name, query);
      const deployments = `/apis/apps/v1/namespaces/${fixture.namespace}/deployments`;
      const path = of === 'ConfigMap' ? fixture.configMaps() : deployments;
      return fixture.client.post(`${path}${query}`, body.replace('NAME', name));
    };

    for (const repetition of REPETITIONS) {
      const { what, of, faults, stored } = repetition;
      it(what, async () => {
        const warned = await create(repetition, '');
        assert.equal(warned.status, 201, warned.text);
        assert.deepEqual(warningsOf(warned), faults);
        assert.match(warned.text, stored);
        const ignored = await create(repetition, '?fieldValidation=Ignore');
        assert.deepEqual([ignored.status, warningsOf(ignored)], [201, []]);
        assert.match(ignored.text, stored);
        const version = of === 'Deployment' || of === 'ConfigMap' ? of : 'Big';
        const prefix = `${version} in version "v1" cannot be handled as a ${version}: strict decoding error: `;
        refused(await create(repetition, '?fieldValidation=Strict'), 400, `${prefix}${faults.join(', ')}`);
      });
    }

    it('of an update is reported as well', async () => {
      await fixture.create('updated');
      const body = '{"metadata":{"name":"updated"},"data":{"a":"1","a":"2"}}';
      const answer = await fixture.client.put(fixture.configMap('updated'), body);
      assert.deepEqual([ok(answer).data, warningsOf(answer)], [{ a: '2' }, ['duplicate field "data.a"']]);
    });

    it('of a patch is reported, and the last value counts', async () => {
      for (const [index, [contentType, body, faults]] of [
        [
          MERGE,
          '{"data":{"a":"1","a":"2","a":"3"},"zzz":1,"zzz":2}',
          ['duplicate field "data.a"', 'duplicate field "zzz"', 'unknown field "zzz"'],
        ],
        [MERGE, '{"data":{"a":"1"},"data":{"a":"3"}}', ['duplicate field "data"']],
        [
          STRATEGIC,
          '{"data":{"b":"1"},"data":{"a":"1","a":"3"}}',
          ['duplicate field "data"', 'duplicate field "data.a"'],
        ],
        [
          JSON_PATCH,
          '[{"op":"test","op":"add","path":"/data","foo":1,"value":{"a":"1"},"value":{"a":"3"}}]',
          [
            'json patch duplicate field "[0].op"',
            'json patch unknown field "[0].foo"',
            'json patch duplicate field "[0].value"',
          ],
        ],
      ].entries() as Iterable<[number, [string, string, string[]]]>) {
        const name = `patched-${index}`;
        await fixture.create(name);
        const patch = (query: string): Promise<Answer> =>
          fixture.client.request('PATCH', `${fixture.configMap(name)}${query}`, { body, contentType });
        const why = `strict decoding error: ${faults.join(', ')}`;
        const strict = await patch('?fieldValidation=Strict');
        assert.equal(strict.status, 422, contentType);
        assert.ok(strict.body.message?.endsWith(`: ${why}`), strict.body.message);
        assert.match(
          strict.body.message ?? '',
          contentType === STRATEGIC ? /: "map\[data:map\[a:3\]\]": / : /: "\{/,
        );
        const warned = await patch('');
        assert.deepEqual([ok(warned).data, warningsOf(warned)], [{ a: '3' }, faults]);
        assert.deepEqual(warningsOf(await patch('?fieldValidation=Ignore')), []);
      }
    });

    it('of an apply is reported by line, in YAML and JSON', async () => {
      const start = (name: string): string => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`;
      for (const [name, body, faults] of [
        [
          'yaml',
          `${start('yaml')}data:\n  a: b\ndata:\n\n  a: >-\n    text\n  "a": &anchor b\n  b:\n    "1"\n  ? b\n  : *anchor\n`,
          [
            'line 10: key "a" already set in map',
            'line 14: key "b" already set in map',
            'line 8: key "data" already set in map',
          ],
        ],
        [
          'keys',
          `${start('keys')}data: {1: "1", "1": "2", 1: "3", yes: "4", true: "5", 1.5: "6", 1.5: "7"}\n`,
          [
            'line 4: key 1 already set in map',
            'line 4: key true already set in map',
            'line 4: key 1.5 already set in map',
          ],
        ],
        [
          'json',
          '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"json"},\n\t"data":{"a":"1",\n\t\t"a":"2"}}',
          ['line 3: key "a" already set in map'],
        ],
      ] as const) {
        const apply = (query: string): Promise<Answer> => {
          const path = `${fixture.configMap(name)}?fieldManager=one${query}`;
          return fixture.client.request('PATCH', path, { body, contentType: APPLY });
        };
        const why = ['yaml: unmarshal errors:', ...faults].join('\n  ');
        const strict = `error strict decoding YAML: error converting YAML to JSON: ${why}`;
        refused(await apply('&fieldValidation=Strict'), 400, strict);
        assert.deepEqual(warningsOf(await apply('&fieldValidation=Ignore')), []);
        const warned = await apply('');
        assert.deepEqual([warned.status, warningsOf(warned)], [200, faults]);
      }
    });
  });
}

/** Texts that are no JSON to a server. */
const MALFORMED: Readonly<Record<string, string>> = {
  'a byte order mark': '\ufeff{"metadata":{"name":"a"}}',
  'an object and more': '{"metadata":{"name":"a"}} x',
  'two objects': '{"metadata":{"name":"a"}}{}',
  'a null byte in a text': '{"metadata":{"name":"a\0"}}',
  'a null byte at the end': '{"metadata":{"name":"a"}}\0',
  'a leading zero': '{"metadata":{"name":"a","generation":01}}',
  'a plus': '{"metadata":{"name":"a","generation":+1}}',
  'a number that is none': '{"metadata":{"name":"a","generation":NaN}}',
  'a trailing comma': '{"metadata":{"name":"a"},}',
  'a comment': '{"metadata":{"name":"a"}/**/}',
  'a number beyond the range of floats': '{"metadata":{"name":"a","generation":1e400}}',
  'lists without an end': '['.repeat(100_000),
  'a nesting of 20,000 levels': `{"metadata":{"name":"a"},"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`,
};

function textSemantics(target: () => Promise<Target>): void {
  describe('the text of a body', () => {
    const fixture = Fixture.use(target, 'together');

    for (const [what, body] of Object.entries(MALFORMED)) {
      it(`with ${what} is 400`, async () => {
        const { status, body: answer } = await fixture.client.post(fixture.configMaps(), body);
        assert.deepEqual([status, answer.reason], [400, 'BadRequest']);
      });
    }

    it('may have white space around it, and the escapes of pairs and null bytes', async () => {
      const body = ' \n{"metadata":{"name":"escaped"},"data":{"a":"\\ud83d\\ude00\\u0000"}}\t\n';
      assert.deepEqual(ok(await fixture.client.post(fixture.configMaps(), body)).data, { a: '😀\0' });
    });

    it('has U+FFFD in place of lone surrogates', async () => {
      const body = '{"metadata":{"name":"lone"},"data":{"a":"\\ud800x\\udc00\\ud800"}}';
      assert.deepEqual(ok(await fixture.client.post(fixture.configMaps(), body)).data, {
        a: '\ufffdx\ufffd\ufffd',
      });
    });
  });
}
