/** Sets of fields: their algebra, their form in managedFields, and their names in conflicts. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FieldSet, NO_FIELDS } from '../../../../../src/tools/apiserver/fields/field-set.ts';

const SPEC = 'f:spec';
const MAIN = 'k:{"name":"main"}';
const one = FieldSet.of([
  [SPEC, 'f:replicas'],
  [SPEC, 'f:containers', MAIN],
  [SPEC, 'f:containers', MAIN, 'f:image'],
]);
const other = FieldSet.of([
  [SPEC, 'f:replicas'],
  [SPEC, 'f:paused'],
]);

describe('a set of fields', () => {
  it('is written as fieldsV1, with a point for a node that is a member itself, and read again', () => {
    const fieldsV1 = {
      'f:spec': { 'f:containers': { [MAIN]: { '.': {}, 'f:image': {} } }, 'f:replicas': {} },
    };
    assert.deepEqual(one.toFieldsV1(), fieldsV1);
    assert.deepEqual(FieldSet.parse(fieldsV1)?.toFieldsV1(), fieldsV1);
    assert.equal(FieldSet.parse({ spec: {} }), undefined);
    assert.deepEqual(FieldSet.parse({ 'x:later': {}, 'f:a': {} })?.toFieldsV1(), { 'f:a': {} });
  });

  it('has a union, an intersection and a difference, which leave no empty branches', () => {
    assert.deepEqual(one.intersection(other).texts(), ['.spec.replicas']);
    assert.deepEqual(other.difference(one).texts(), ['.spec.paused']);
    assert.equal(one.union(other).union(NO_FIELDS).texts().length, 4);
    assert.ok(one.difference(one).isEmpty);
  });

  it('keeps the fields of an object that the other set has only as a whole', () => {
    const whole = FieldSet.of([[SPEC]]);
    assert.deepEqual(other.difference(whole).texts(), other.texts());
    assert.ok(whole.difference(other).has(SPEC));
  });

  it('names its fields in the order of a cluster: each level before the levels below it, keys by their values', () => {
    const ports = [8080, 80].map((port) => [SPEC, 'f:ports', `k:{"port":${port},"protocol":"TCP"}`]);
    const finalizer = ['f:metadata', 'f:finalizers', 'v:"example.com/a"'];
    assert.deepEqual(FieldSet.of([...ports, [SPEC, 'f:type'], finalizer]).texts(), [
      '.metadata.finalizers[="example.com/a"]',
      '.spec.type',
      '.spec.ports[port=80,protocol="TCP"]',
      '.spec.ports[port=8080,protocol="TCP"]',
    ]);
  });

  it('takes names of Object.prototype as names', () => {
    const fieldsV1 = JSON.parse('{"f:__proto__":{"f:constructor":{}}}') as Record<string, never>;
    assert.deepEqual(FieldSet.parse(fieldsV1)?.texts(), ['.__proto__.constructor']);
  });
});
