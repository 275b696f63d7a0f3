/** The ordinals of namespaces, in order of arrival. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { NumberColumns } from '../../../../src/replica/store/columns.ts';
import { OrdinalsByNamespace } from '../../../../src/replica/store/ordinals-by-namespace.ts';

function indexOf(...namespaces: readonly string[]): OrdinalsByNamespace {
  const links = new NumberColumns(2);
  const index = new OrdinalsByNamespace({ links, previous: 0, next: 1 });
  for (const [ordinal, namespace] of namespaces.entries()) index.add(namespace, ordinal);
  return index;
}

function contentOf(index: OrdinalsByNamespace): Record<string, number[]> {
  const names = [...index.keys()];
  for (const name of names) assert.equal(index.get(name)?.size, [...(index.get(name) ?? [])].length);
  return Object.fromEntries(names.map((name) => [name, [...(index.get(name) ?? [])]]));
}

describe('ordinals by namespace', () => {
  test('are in order of arrival, without cluster-scoped objects', () => {
    const index = indexOf('a', 'b', '', 'a', 'a', 'b');
    assert.deepEqual(contentOf(index), { a: [0, 3, 4], b: [1, 5] });
    assert.equal(index.get(''), undefined);
  });

  test('keep their order when the first, the last or another ordinal is removed', () => {
    const index = indexOf('a', 'a', 'a', 'a', 'a');
    for (const [ordinal, left] of [
      [2, [0, 1, 3, 4]],
      [0, [1, 3, 4]],
      [4, [1, 3]],
    ] as const) {
      index.remove('a', ordinal);
      assert.deepEqual(contentOf(index), { a: left });
    }
  });

  test('have no empty namespace, and begin anew when an object of it comes', () => {
    const index = indexOf('a', 'b');
    index.remove('b', 1);
    index.remove('', 1);
    assert.deepEqual(contentOf(index), { a: [0] });
    index.add('b', 1);
    index.remove('a', 0);
    index.add('b', 0);
    assert.deepEqual(contentOf(index), { b: [1, 0] });
  });
});
