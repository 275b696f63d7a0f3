/** JSONPath templates, in the notation of kubectl. Expected texts are those of kubectl. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { jsonPathTemplate, jsonPathValues } from '../../../src/cli/json-path.ts';
import { parseOutput } from '../../../src/cli/output.ts';

const LIST = {
  kind: 'List',
  items: [
    {
      metadata: { name: 'a', labels: { 'app.kubernetes.io/name': 'x' } },
      spec: { containers: [{ image: 'i1' }, { image: 'i2' }] },
      status: {
        conditions: [
          { type: 'Ready', status: 'True' },
          { type: 'Other', status: 'False' },
        ],
      },
    },
    { metadata: { name: 'b' }, status: { count: 3 } },
  ],
};

describe('a JSONPath template', () => {
  const texts: readonly (readonly [string, string])[] = [
    ['{.items[*].metadata.name}', 'a b'],
    ['{range .items[*]}{.metadata.name}{"\\t"}{.status.count}{"\\n"}{end}', 'a\t\nb\t3\n'],
    ['{range .items[*]}{range .spec.containers[*]}{.image}{";"}{end}{end}', 'i1;i2;'],
    ['{.items[0].metadata.labels.app\\.kubernetes\\.io/name}', 'x'],
    ["{.items[0].metadata.labels['app\\.kubernetes\\.io/name']}", 'x'],
    ['{.items[0].metadata.labels}', '{"app.kubernetes.io/name":"x"}'],
    ['{..image}', 'i1 i2'],
    ['{..metadata.name}', 'a b'],
    ['{.items[-1].metadata.name}', 'b'],
    ['{.items[-2].metadata.name}', 'a'],
    ['{.items[0:1].metadata.name}', 'a'],
    ['{.items[0,1].metadata.name}', 'a b'],
    ['{.items[0].status.conditions[?(@.type=="Ready")].status}', 'True'],
    ['{.items[?(@.status.count==3)].metadata.name}', 'b'],
    ['kind: {$.kind}, {@.kind}', 'kind: List, List'],
    ['{.absent.name}', ''],
    ["{'}'}", '}'],
  ];
  for (const [template, text] of texts) {
    it(`${template} prints ${JSON.stringify(text)}`, () => {
      assert.equal(jsonPathTemplate(template)(LIST), text);
    });
  }

  const malformed: readonly (readonly [string, RegExp])[] = [
    ['{.a', /a brace is not closed/],
    ['{.a}}', /a brace is not closed/],
    ['{end}', /\{end\} without \{range\}/],
    ['{range .items}', /\{range\} without \{end\}/],
    ['{.a[}', /is not a path/],
    ["{.a['b','c']}", /brackets take one name/],
  ];
  for (const [template, message] of malformed) {
    it(`${template} is refused`, () => {
      assert.throws(() => jsonPathTemplate(template), { code: 'ERR_KUBELOOM_USAGE', message });
    });
  }

  it('is a path without braces and leading dot in a custom column', () => {
    for (const path of ['metadata.name', '.metadata.name', '{.metadata.name}']) {
      assert.deepEqual(jsonPathValues(path)(LIST.items[0]), ['a']);
    }
  });
});

describe('-o', () => {
  it('takes custom columns, whose missing values are <none>', () => {
    const output = parseOutput(
      'custom-columns=NAME:.metadata.name,IMAGES:.spec.containers[*].image,N:.status.count',
    );
    assert.ok(output.type === 'columns');
    const rows = LIST.items.map((item) => output.columns.map((column) => column.cell(item, 0)));
    assert.deepEqual(
      output.columns.map(({ header }) => header),
      ['NAME', 'IMAGES', 'N'],
    );
    assert.deepEqual(rows, [
      ['a', 'i1,i2', '<none>'],
      ['b', '<none>', '3'],
    ]);
  });

  for (const text of [
    '',
    'xml',
    'wide=1',
    'jsonpath',
    'jsonpath=',
    'custom-columns=',
    'custom-columns=NAME',
  ]) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      assert.throws(() => parseOutput(text), { code: 'ERR_KUBELOOM_USAGE' });
    });
  }
});
