/** Reads paths of client-node's informers, and refuses those that name no collection. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { resources } from '../../../src/index.ts';
import { parseWatchPath } from '../../../src/client-node/watch-path.ts';

describe('the path of an informer', () => {
  test('names a built-in resource, with its namespace', () => {
    const { core, apps } = resources;
    const pods = { resource: core.v1.pods, namespace: '', isBuiltIn: true };
    assert.deepEqual(parseWatchPath('/api/v1/pods'), pods);
    const deployments = { resource: apps.v1.deployments, namespace: 'web', isBuiltIn: true };
    assert.deepEqual(parseWatchPath('/apis/apps/v1/namespaces/web/deployments'), deployments);
    assert.deepEqual(parseWatchPath('/api/v1/namespaces').resource, core.v1.namespaces);
  });

  test('names a custom resource, whose kind is in its objects', () => {
    assert.deepEqual(parseWatchPath('/apis/example.com/v1/namespaces/web/widgets'), {
      resource: { group: 'example.com', version: 'v1', resource: 'widgets', kind: '', isNamespaced: true },
      namespace: 'web',
      isBuiltIn: false,
    });
  });

  test('may have selectors; parameters that select nothing are left out', () => {
    const { labelSelector, fieldSelector } = parseWatchPath(
      '/api/v1/pods?labelSelector=app%3Dweb&fieldSelector=spec.nodeName%3Dn&allowWatchBookmarks=true',
    );
    assert.deepEqual([labelSelector, fieldSelector], ['app=web', 'spec.nodeName=n']);
  });

  const REFUSED: readonly [path: unknown, why: RegExp][] = [
    ['/api/v1/namespaces/web/pods/a', /^"[^"]+" cannot be watched: the path of a collection is/],
    ['/api/v1', /the path of a collection is/],
    ['api/v1/pods', /the path of a collection is/],
    ['/apis/v1/pods', /the path of a collection is/],
    ['/some/path', /the path of a collection is/],
    ['/api/v1/watch/pods', /the path of a collection is/],
    ['/api/v1/pods?dryRun=All&x=1', /cannot send dryRun, x: remove it from the path/],
    [undefined, /path must be text/],
  ];
  for (const [path, message] of REFUSED) {
    test(`is refused when it is ${String(path)}`, () => {
      const expected = { code: 'ERR_KUBELOOM_OPTION', message };
      assert.throws(() => parseWatchPath(path as string), expected);
    });
  }
});
