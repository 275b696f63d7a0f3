/** Bodies as bytes: members that JSON repeats, and texts that are no JSON. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Answer } from './client.ts';
import { Fixture, ok, refused } from './fixture.ts';
import { APPLY, JSON_PATCH, MERGE, Numbers, STRATEGIC } from './integers.ts';
import type { Target } from './target.ts';

export function bodySemantics(target: () => Promise<Target>): void {
  repetitionSemantics(target);
  textSemantics(target);
}

/** Returns the texts of the warnings of an answer. */
function warningsOf({ headers }: Answer): string[] {
  const text = Buffer.from(headers['warning'] ?? '', 'latin1').toString();
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
    stored: /"containers":\[\{"name":"d",[^[]*"image":"j"[^[]*\]/,
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
