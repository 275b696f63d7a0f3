/** Values that the server assigns to absent members. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assignMissing } from '../../../../../src/tools/apiserver/shapes/assigned.ts';
import type { Assigned, ShapeNode } from '../../../../../src/tools/apiserver/shapes/shapes.ts';
import type { Json } from '../../../../../src/tools/apiserver/store/json.ts';

const node = (assigned: Assigned, go = 'string'): ShapeNode => ({ go, assigned });

function assigned(value: Json, shape: ShapeNode): Json {
  assignMissing(value, shape);
  return value;
}

test('a constant replaces an absent or empty value, but no other value', () => {
  const shape: ShapeNode = { properties: { a: node({ value: 'x' }) } };
  const given = [{}, { a: '' }, { a: 'y' }].map((value) => assigned(value, shape));
  assert.deepEqual(given, [{ a: 'x' }, { a: 'x' }, { a: 'y' }]);
  assert.deepEqual(assigned({ a: 0 }, { properties: { a: node({ value: 1 }, '*int32') } }), { a: 0 });
});

test('the text of a sibling chooses a value, also if the server assigns the text', () => {
  const a = node({ value: 'x', sibling: 'b', texts: ['one', 'two'] });
  const shape: ShapeNode = { properties: { a, b: node({ value: 'two' }) } };
  const given = [{ b: 'one' }, { b: 'three' }, {}].map((value) => assigned(value, shape));
  assert.deepEqual(given, [{ b: 'one', a: 'x' }, { b: 'three' }, { b: 'two', a: 'x' }]);
});

test('a value of the top is assigned in the spec of an object, but in no template', () => {
  const part: ShapeNode = { properties: { a: node({ value: 1, top: true }) } };
  const spec: ShapeNode = { properties: { ...part.properties, template: part } };
  assert.deepEqual(assigned({ spec: { template: {} } }, { properties: { spec } }), {
    spec: { a: 1, template: {} },
  });
});

test('items of lists and entries of maps get values, each a copy', () => {
  const part: ShapeNode = { properties: { a: node({ value: {} }, '*T') } };
  const shape: ShapeNode = { properties: { list: { items: part }, map: { additionalProperties: part } } };
  const found = assigned({ list: [{}, {}], map: { k: {} } }, shape);
  assert.deepEqual(found, { list: [{ a: {} }, { a: {} }], map: { k: { a: {} } } });
  const [one, other] = (found as { readonly list: readonly { readonly a: object }[] }).list;
  assert.notEqual(one?.a, other?.a);
});
