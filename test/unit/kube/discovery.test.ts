/** Tests of names as people type them, looked up in a server's discovery documents. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KubeloomError } from '../../../src/base/errors.ts';
import { findResource } from '../../../src/kube/rest-mapper.ts';
import { resources } from '../../../src/kube/built-in.ts';

const ALL = ['get', 'list', 'watch'];

const DOCUMENTS: Readonly<Record<string, unknown>> = {
  '/api/v1': {
    resources: [
      { name: 'pods', singularName: 'pod', namespaced: true, kind: 'Pod', verbs: ALL, shortNames: ['po'] },
      { name: 'pods/status', singularName: '', namespaced: true, kind: 'Pod', verbs: ['get'] },
      { name: 'nodes', singularName: '', namespaced: false, kind: 'Node', verbs: ALL, shortNames: ['no'] },
      {
        name: 'events',
        singularName: 'event',
        namespaced: true,
        kind: 'Event',
        verbs: ALL,
        shortNames: ['ev'],
      },
      { name: 'bindings', singularName: 'binding', namespaced: true, kind: 'Binding', verbs: ['create'] },
    ],
  },
  '/apis': {
    groups: [
      { name: 'broken.example.com', versions: [{ version: 'v1' }], preferredVersion: { version: 'v1' } },
      { name: 'apps', versions: [{ version: 'v1' }], preferredVersion: { version: 'v1' } },
      {
        name: 'events.k8s.io',
        versions: [{ version: 'v1' }, { version: 'v1beta1' }],
        preferredVersion: { version: 'v1' },
      },
      {
        name: 'example.com',
        versions: [{ version: 'v2' }, { version: 'v1' }],
        preferredVersion: { version: 'v2' },
      },
    ],
  },
  '/apis/apps/v1': {
    resources: [
      {
        name: 'deployments',
        singularName: 'deployment',
        namespaced: true,
        kind: 'Deployment',
        verbs: ALL,
        shortNames: ['deploy'],
      },
    ],
  },
  '/apis/events.k8s.io/v1': {
    resources: [{ name: 'events', singularName: 'event', namespaced: true, kind: 'Event', verbs: ALL }],
  },
  '/apis/events.k8s.io/v1beta1': { resources: [] },
  '/apis/example.com/v2': {
    resources: [{ name: 'widgets', singularName: 'widget', namespaced: true, kind: 'Widget', verbs: ALL }],
  },
  '/apis/example.com/v1': {
    resources: [
      { name: 'widgets', singularName: 'widget', namespaced: true, kind: 'Widget', verbs: ALL },
      { name: 'gadgets', singularName: 'gadget', namespaced: false, kind: 'Gadget', verbs: ALL },
    ],
  },
};

function getJson(path: string): Promise<unknown> {
  const document = DOCUMENTS[path];
  return document === undefined
    ? Promise.reject(new KubeloomError('ERR_TEST', `503 for ${path}`))
    : Promise.resolve(document);
}

const PODS = resources.core.v1.pods;
const DEPLOYMENTS = {
  group: 'apps',
  version: 'v1',
  resource: 'deployments',
  kind: 'Deployment',
  isNamespaced: true,
};
const GADGETS = {
  group: 'example.com',
  version: 'v1',
  resource: 'gadgets',
  kind: 'Gadget',
  isNamespaced: false,
};

describe('the resource of a name', () => {
  for (const name of ['pods', 'pod', 'po', 'Pod', 'PODS', 'pods.v1']) {
    it(`is pods for ${name}`, async () => {
      assert.deepEqual(await findResource(name, getJson), PODS);
    });
  }

  for (const name of [
    'deployments',
    'deployment',
    'deploy',
    'Deployment',
    'deployments.apps',
    'deploy.apps',
    'deployments.v1.apps',
  ]) {
    it(`is deployments for ${name}`, async () => {
      assert.deepEqual(await findResource(name, getJson), DEPLOYMENTS);
    });
  }

  it('is found by its kind where the server sends no singular name', async () => {
    assert.equal((await findResource('node', getJson)).resource, 'nodes');
  });

  it('is in the core group before all others, and in another one when the name has that group', async () => {
    assert.equal((await findResource('events', getJson)).group, '');
    assert.equal((await findResource('events.events.k8s.io', getJson)).group, 'events.k8s.io');
  });

  it('has the preferred version of its group, or the requested one', async () => {
    assert.equal((await findResource('widgets.example.com', getJson)).version, 'v2');
    assert.equal((await findResource('widgets.v1.example.com', getJson)).version, 'v1');
  });

  it('is found in a version that is not preferred, when only that one has it', async () => {
    assert.deepEqual(await findResource('gadgets', getJson), GADGETS);
  });

  it('is unknown when no group has it, and the error has the searched name and the unreadable groups', async () => {
    await assert.rejects(findResource('gizmos', getJson), (error: unknown) => {
      assert.ok(error instanceof KubeloomError);
      assert.equal(error.code, 'ERR_KUBELOOM_UNKNOWN_RESOURCE');
      assert.match(error.message, /"gizmos"/);
      assert.match(error.message, /broken\.example\.com\/v1: 503/);
      return true;
    });
  });

  it('is unknown in a group that does not have it, and for a subresource', async () => {
    for (const name of ['pods.apps', 'widgets.v3.example.com', 'pods/status', '']) {
      await assert.rejects(
        findResource(name, getJson),
        { code: 'ERR_KUBELOOM_UNKNOWN_RESOURCE' },
        `for "${name}"`,
      );
    }
  });

  it('is rejected when it can be neither listed nor watched', async () => {
    await assert.rejects(findResource('bindings', getJson), { code: 'ERR_KUBELOOM_NOT_WATCHABLE' });
  });

  it("is an error when the server cannot be reached: the server's error", async () => {
    const refuse = (): Promise<unknown> => Promise.reject(new KubeloomError('ERR_TEST_401', 'no'));
    await assert.rejects(findResource('pods', refuse), { code: 'ERR_TEST_401' });
  });

  it('is found in spite of malformed documents', async () => {
    for (const document of [null, [], 'text', { resources: [null, 7, {}] }, { groups: 'none' }]) {
      await assert.rejects(
        findResource('pods', () => Promise.resolve(document)),
        { code: 'ERR_KUBELOOM_UNKNOWN_RESOURCE' },
      );
    }
  });
});
