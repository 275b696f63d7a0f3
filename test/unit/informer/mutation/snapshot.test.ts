/** Copies and differences of what users may put into a cache. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { differences, snapshotOf } from '../../../../src/informer/mutation/snapshot.ts';

class MicroTime extends Date {}

class Model {
  name = 'web-0';
  labels: Record<string, string> = { app: 'web' };
}

/** Returns the differences between a value after `write` and its copy. */
function changed<T>(value: T, write: (value: T) => unknown, max = 10): readonly string[] {
  const copy = snapshotOf(value);
  assert.deepEqual(differences(copy, value, max), []);
  write(value);
  return differences(copy, value, max);
}

describe('differences', () => {
  test('name the path, the old value and the new value', () => {
    const pod = {
      metadata: { labels: { app: 'web', 'a/b': 'x' } as Record<string, string> },
      spec: { replicas: 1, args: ['a', 'b'] },
    };
    const changes = changed(pod, () => {
      pod.spec.replicas = 2;
      pod.spec.args.push('c');
      pod.spec.args[0] = 'z';
      pod.metadata.labels['a/b'] = 'y';
      pod.metadata.labels['tier'] = 'front';
      delete pod.metadata.labels['app'];
    });
    assert.deepEqual(changes, [
      "metadata.labels.app: 'web' -> absent",
      `metadata.labels["a/b"]: 'x' -> 'y'`,
      "metadata.labels.tier: absent -> 'front'",
      'spec.replicas: 1 -> 2',
      "spec.args[0]: 'a' -> 'z'",
      "spec.args[2]: absent -> 'c'",
    ]);
  });

  test('are found between kinds of values, and at the root', () => {
    assert.deepEqual(differences({ a: [] }, { a: {} }, 9), ['a: [] -> {}']);
    assert.deepEqual(differences({ a: null }, { a: {} }, 9), ['a: null -> {}']);
    assert.deepEqual(differences({ a: undefined }, {}, 9), ['a: undefined -> absent']);
    assert.deepEqual(differences({ a: 0 }, { a: '0' }, 9), ["a: 0 -> '0'"]);
    assert.deepEqual(differences(1, 2, 9), ['.: 1 -> 2']);
    assert.deepEqual(differences({ a: NaN }, { a: NaN }, 9), []);
  });

  test('end at the limit', () => {
    const list = Array.from({ length: 100 }, (_, at) => at);
    const changes = changed({ list }, () => list.fill(-1), 3);
    assert.deepEqual(changes, ['list[0]: 0 -> -1', 'list[1]: 1 -> -1', 'list[2]: 2 -> -1']);
    assert.equal(differences({}, { a: 1, b: 2, c: 3 }, 2).length, 2);
    assert.equal(differences({ a: 1, b: 2, c: 3 }, {}, 2).length, 2);
  });

  test('see through models, dates, maps and bytes', () => {
    const model = new Model();
    assert.deepEqual(
      changed({ model }, () => (model.labels['app'] = 'api')),
      ["model.labels.app: 'web' -> 'api'"],
    );
    const time = new MicroTime(0);
    assert.equal(changed({ time }, () => time.setTime(1000)).length, 1);
    const map = new Map([['a', 1]]);
    assert.equal(changed({ map }, () => map.set('a', 2)).length, 1);
    const bytes = Buffer.from('abc');
    assert.equal(changed({ bytes }, () => bytes.write('x')).length, 1);
  });

  test('are empty for an unchanged value that cannot be copied', () => {
    const same = { promise: Promise.resolve(), call: (): void => {}, weak: new WeakMap() };
    assert.deepEqual(
      changed(same, () => {}),
      [],
    );
  });

  test('are none for a member __proto__, which JSON may have', () => {
    const value = JSON.parse('{"__proto__":{"a":1},"b":2}') as unknown;
    assert.deepEqual(
      changed(value, () => {}),
      [],
    );
  });
});
