/** Listers of cluster-scoped resources; clause 155 has those of namespaced ones. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Lister } from '../../../src/informer/lister.ts';
import { PODS } from '../../kit/objects.ts';

const CONFIG_OF_NODES = { ...PODS, resource: 'nodes', kind: 'Node', isNamespaced: false };

test('a lister of a cluster-scoped resource finds by name, and says which group it did not find it in', () => {
  const store = { getByKey: () => undefined, select: () => [], async *scan() {} };
  const lister = new Lister(store, { ...CONFIG_OF_NODES, group: 'example.com' });
  assert.equal(lister.get('n'), undefined);
  assert.throws(() => lister.require('n'), { message: 'nodes.example.com "n" not found' });
  assert.throws(() => lister.namespace('').require('n'), { code: 'ERR_KUBELOOM_NOT_FOUND' });
});
