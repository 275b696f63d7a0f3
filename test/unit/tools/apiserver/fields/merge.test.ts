/** Typed values: their fields, their difference, their union, and the removal of fields. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FieldSet } from '../../../../../src/tools/apiserver/fields/field-set.ts';
import {
  compare,
  fieldsOf,
  merge,
  typeErrors,
  without,
} from '../../../../../src/tools/apiserver/fields/merge.ts';
import { schemaType } from '../../../../../src/tools/apiserver/fields/schema-types.ts';

const POD = schemaType({ $ref: 'core.v1.Pod' });
const pod = (...containers: readonly object[]): never => ({ spec: { containers } }) as never;
const named = (...names: readonly string[]): never => pod(...names.map((name) => ({ name })));

describe('typed values', () => {
  it('have the leaves, the items of lists with keys, and empty maps as fields', () => {
    const value = {
      metadata: { labels: {} },
      spec: { nodeSelector: { a: 'b' }, containers: [{ name: 'c' }] },
    };
    assert.deepEqual(fieldsOf(value, POD).texts(), [
      '.metadata.labels',
      '.spec.nodeSelector',
      '.spec.containers[name="c"]',
      '.spec.containers[name="c"].name',
    ]);
  });

  it('differ in what was added, modified and removed; an object that is always there is neither', () => {
    const before = { spec: { containers: [{ name: 'a', image: '1' }, { name: 'b' }] } };
    const after = { metadata: { labels: { x: '1' } }, spec: { containers: [{ name: 'a', image: '2' }] } };
    const { added, modified, removed } = compare(before, after, POD);
    assert.deepEqual(added.texts(), ['.metadata.labels', '.metadata.labels.x']);
    assert.deepEqual(modified.texts(), ['.spec.containers[name="a"].image']);
    assert.deepEqual(removed.texts(), ['.spec.containers[name="b"]', '.spec.containers[name="b"].name']);
  });

  it('merge lists in the order of the configuration, and items of others stay behind the item before them', () => {
    const order = (live: never, config: never): string => {
      const { spec } = merge(live, config, POD) as { spec: { containers: { name: string }[] } };
      return spec.containers.map(({ name }) => name).join('');
    };
    assert.equal(order(named('a', 'b', 'c'), named('c', 'a')), 'bca');
    assert.equal(order(named('a', 'b'), named('x', 'b')), 'axb');
    assert.equal(order(named('a'), named('b', 'c')), 'abc');
    assert.equal(order(named(), named('a')), 'a');
  });

  it('lose fields and items; a list or an object that becomes empty stays as a null', () => {
    const image = FieldSet.of([['f:spec', 'f:containers', 'k:{"name":"a"}', 'f:image']]);
    assert.deepEqual(
      without(pod({ name: 'a', image: '1' }, { name: 'b' }), image, POD),
      pod({ name: 'a' }, { name: 'b' }),
    );
    const item = FieldSet.of([['f:spec', 'f:containers', 'k:{"name":"a"}']]);
    assert.deepEqual(without(named('a'), item, POD), { spec: { containers: null } });
  });

  it('keep members that are named like members of Object.prototype', () => {
    const live = JSON.parse('{"data":{"__proto__":"kept"}}') as never;
    const merged = merge(live, { data: { constructor: 'new' } }, schemaType({ $ref: 'core.v1.ConfigMap' }));
    assert.equal(JSON.stringify(merged), '{"data":{"__proto__":"kept","constructor":"new"}}');
  });

  it('are refused with a wrong type, an undeclared field, an item without keys, or an item twice', () => {
    const name = { type: 'string', enum: [] };
    const list = {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: { type: 'object', properties: { name } },
    };
    const type = schemaType({ type: 'object', properties: { size: { type: 'integer' }, list } });
    assert.deepEqual(typeErrors({ size: 'x' }, type), ['.size: expected numeric (int or float), got string']);
    assert.deepEqual(typeErrors({ bogus: 1 }, type), ['.bogus: field not declared in schema']);
    assert.match(
      typeErrors({ list: [{}] }, type).join(),
      /^\.list: element 0: associative list with keys has an element/,
    );
    assert.deepEqual(typeErrors({ list: [{ name: 'a' }, { name: 'a' }] }, type), [
      '.list: duplicate entries for key [name="a"]',
    ]);
  });
});
