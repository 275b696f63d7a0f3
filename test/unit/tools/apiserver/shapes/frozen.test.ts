/** Fields that updates may not change. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { frozenErrors } from '../../../../../src/tools/apiserver/shapes/frozen.ts';
import type { Json } from '../../../../../src/tools/apiserver/store/json.ts';

const IMMUTABLE = 'field is immutable';
const EXCEPT = 'Forbidden: may not change fields other than `spec.list[*].image`,`replicas`';

/** Rows: the field and the words of the rule, the object before and after the update, and the refusal or ''. */
const ROWS: readonly (readonly [field: string, words: string, before: Json, after: Json, error: string])[] = [
  ['type', IMMUTABLE, { type: 'a' }, { type: 'b' }, `type: Invalid value: "b": ${IMMUTABLE}`],
  ['type', IMMUTABLE, { type: 'a' }, { type: 'a', other: 1 }, ''],
  ['type', IMMUTABLE, {}, { type: '' }, ''],
  ['type', IMMUTABLE, { type: 'a' }, {}, `type: Invalid value: null: ${IMMUTABLE}`],
  ['spec.a', IMMUTABLE, { spec: { a: 1, b: 1 } }, { spec: { a: 1, b: 2 } }, ''],
  ['spec', EXCEPT, { spec: { a: 1 } }, { spec: { a: 2 } }, `spec: ${EXCEPT}`],
  ['spec', EXCEPT, { spec: { replicas: 1 } }, { spec: { replicas: 2 } }, ''],
  [
    'spec',
    EXCEPT,
    { spec: { list: [{ image: 'a' }, { image: 'b' }] } },
    { spec: { list: [{ image: 'a' }, { image: 'c' }] } },
    '',
  ],
  [
    'spec',
    EXCEPT,
    { spec: { list: [{ image: 'a' }] } },
    { spec: { list: [{ image: 'a' }, { image: 'c' }] } },
    `spec: ${EXCEPT}`,
  ],
  ['spec', IMMUTABLE, { spec: { a: 1 } }, { spec: { a: 1, volumeName: 'v' } }, ''],
  [
    'spec',
    'Forbidden: frozen',
    { spec: { volumeName: 'v' } },
    { spec: { volumeName: 'w' } },
    'spec: Forbidden: frozen',
  ],
  ['spec.providerID', 'Forbidden: frozen', { spec: {} }, { spec: { providerID: 'p' } }, ''],
];

for (const [field, words, before, after, error] of ROWS)
  test(`a rule for ${field} finds ${error || 'no error'}: ${JSON.stringify([before, after])}`, () => {
    const found = frozenErrors(after, before, [{ field, words }]);
    assert.equal(found.map((each) => `${each.field}: ${each.body}`).join(), error);
  });
