/** The cluster and the namespace that flags choose. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { LoadedKubeConfig } from '../../../../src/kube/loaded-kube-config.ts';
import { namespaceOf, selectionOf } from '../../../../src/tools/cli/cluster.ts';
import { resources } from '../../../../src/index.ts';

const CONTEXT = { name: 'c', cluster: 'c', user: '', namespace: 'shop' };
const kubeConfig = new LoadedKubeConfig({
  clusters: [{ name: 'c', server: 'https://a.test', skipTLSVerify: false }],
  users: [],
  contexts: [CONTEXT],
  currentContext: 'c',
});

it('an empty namespace is the namespace of the context, as for kubectl, and never all namespaces', () => {
  assert.equal(namespaceOf(kubeConfig, { namespace: '' }), 'shop');
  assert.equal(namespaceOf(kubeConfig, {}), 'shop');
  assert.equal(namespaceOf(kubeConfig, { namespace: 'other' }), 'other');
  const { pods, nodes } = resources.core.v1;
  assert.deepEqual(selectionOf(kubeConfig, pods, { namespace: '' }), { namespace: 'shop' });
  assert.deepEqual(selectionOf(kubeConfig, pods, { allNamespaces: true }), {});
  assert.deepEqual(selectionOf(kubeConfig, nodes, { namespace: '' }), {});
});
