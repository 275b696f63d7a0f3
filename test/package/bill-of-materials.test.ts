/** Tests of the bill of materials: it lists what npm installs and what is compiled in, each package once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withCompiled } from './bill-of-materials.ts';

const INSTALLED = {
  'bom-ref': 'a@1.0.0',
  type: 'library',
  name: 'a',
  version: '1.0.0',
  purl: 'pkg:npm/a@1.0.0',
};
const BILL = {
  bomFormat: 'CycloneDX',
  metadata: { component: { 'bom-ref': 'kubeloom@0.1.0' } },
  components: [INSTALLED],
  dependencies: [
    { ref: 'kubeloom@0.1.0', dependsOn: ['a@1.0.0'] },
    { ref: 'a@1.0.0', dependsOn: [] },
  ],
};
const COMPILED = [
  { name: '@b/c', version: '2.0.0', license: 'MIT', text: 'Do as you like.' },
  { name: 'a', version: '1.0.0', license: 'ISC', text: 'Do as you like.' },
];

test('a compiled package is a component with its licence, on which the package depends', () => {
  const { components, dependencies } = withCompiled(BILL, COMPILED);
  assert.deepEqual(components, [
    INSTALLED,
    {
      'bom-ref': '@b/c@2.0.0',
      type: 'library',
      name: '@b/c',
      version: '2.0.0',
      scope: 'required',
      purl: 'pkg:npm/%40b/c@2.0.0',
      licenses: [{ license: { id: 'MIT' } }],
      properties: [{ name: 'kubeloom:compiledInto', value: 'dist/tools' }],
    },
  ]);
  assert.deepEqual(dependencies, [
    { ref: 'kubeloom@0.1.0', dependsOn: ['a@1.0.0', '@b/c@2.0.0'] },
    { ref: 'a@1.0.0', dependsOn: [] },
    { ref: '@b/c@2.0.0', dependsOn: [] },
  ]);
});

test('a bill that is extended keeps every other member of npm’s bill', () => {
  const { bomFormat, metadata } = withCompiled(BILL, COMPILED);
  assert.deepEqual({ bomFormat, metadata }, { bomFormat: BILL.bomFormat, metadata: BILL.metadata });
});
