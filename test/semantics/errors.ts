/** Forbidden requests and absent things. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Fixture, refused } from './fixture.ts';
import type { Target } from './target.ts';

export function errorSemantics(target: () => Promise<Target>): void {
  describe('a request', () => {
    const fixture = Fixture.use(target);

    it('with a wrong token is 401', async () => {
      const { status, body } = await fixture.client.get(fixture.configMaps(), { token: 'wrong' });
      assert.equal(status, 401);
      assert.equal(body.kind, 'Status');
      assert.equal(body.reason, 'Unauthorized');
      assert.equal(body.message, 'Unauthorized');
    });

    it('without a token is anonymous, which is not allowed: 403', async () => {
      const list = await fixture.client.get('/api/v1/namespaces/default/configmaps', { token: '' });
      const message =
        'configmaps is forbidden: User "system:anonymous" cannot list resource "configmaps" in API group "" in the namespace "default"';
      refused(list, 403, message, 'Forbidden');
      assert.deepEqual(list.body.details, { kind: 'configmaps' });
      const watch = await fixture.client.get('/api/v1/pods?watch=1', { token: '' });
      assert.equal(
        watch.body.message,
        'pods is forbidden: User "system:anonymous" cannot watch resource "pods" in API group "" at the cluster scope',
      );
      const get = await fixture.client.get('/apis/apps/v1/namespaces/default/deployments/x', { token: '' });
      assert.equal(
        get.body.message,
        'deployments.apps "x" is forbidden: User "system:anonymous" cannot get resource "deployments" in API group "apps" in the namespace "default"',
      );
      assert.deepEqual(get.body.details, { name: 'x', group: 'apps', kind: 'deployments' });
    });

    it('for an absent object is 404 with its resource and group', async () => {
      const pod = await fixture.client.get(fixture.pod('nope'));
      refused(pod, 404, 'pods "nope" not found', 'NotFound');
      assert.deepEqual(pod.body.details, { name: 'nope', kind: 'pods' });
      const deployment = await fixture.client.get('/apis/apps/v1/namespaces/default/deployments/nope');
      assert.equal(deployment.body.message, 'deployments.apps "nope" not found');
      assert.deepEqual(deployment.body.details, { name: 'nope', group: 'apps', kind: 'deployments' });
    });

    it('for a resource that a group does not have is 404 without details', async () => {
      for (const path of ['/api/v1/widgets', '/apis/apps/v1/widgets', '/api/v1/widgets?watch=1']) {
        const answer = await fixture.client.get(path);
        refused(answer, 404, 'the server could not find the requested resource', 'NotFound');
        assert.deepEqual(answer.body.details, {});
      }
    });

    it('for a group that does not exist is a 404 without a Status', async () => {
      const { status, headers, text } = await fixture.client.get('/apis/example.com/v1/widgets');
      assert.equal(status, 404);
      assert.equal(headers['content-type'], 'text/plain; charset=utf-8');
      assert.equal(text, '404 page not found\n');
    });

    it('with a method that the resource does not support is 405', async () => {
      const answer = await fixture.client.put('/api/v1/pods', {});
      const message = 'the server does not allow this method on the requested resource';
      refused(answer, 405, message, 'MethodNotAllowed');
    });

    it('with a verb that discovery does not list is 405, and without any verb for its path 404', async () => {
      await fixture.createPod('kept');
      for (const [method, path, status] of [
        ['DELETE', `${fixture.pod('kept')}/status`, 405],
        ['POST', `${fixture.pod('kept')}/status`, 405],
        ['GET', `${fixture.pod('kept')}/eviction`, 405],
        ['DELETE', `/api/v1/namespaces/${fixture.namespace}/status`, 405],
        ['PATCH', `/api/v1/namespaces/${fixture.namespace}/finalize`, 405],
        ['OPTIONS', fixture.pods(), 405],
        ['DELETE', '/version', 405],
        ['POST', '/api/v1', 405],
        ['GET', '/api/v1/configmaps/x', 404],
        ['DELETE', '/api/v1/pods/kept', 404],
        ['GET', `${fixture.configMap('x')}/status`, 404],
        ['GET', `/api/v1/namespaces/${fixture.namespace}/nodes`, 404],
        ['GET', '/apis/apps/v2/deployments', 404],
      ] as const) {
        const answer = await fixture.client.request(method, path);
        assert.equal(answer.status, status, `${method} ${path}`);
        assert.equal(answer.body.kind, 'Status', `${method} ${path}`);
      }
      await fixture.get(fixture.pod('kept'));
    });

    it('with parameters that are no numbers or durations is 400', async () => {
      for (const [query, why] of [
        ['limit=x', 'strconv.ParseInt: parsing "x": invalid syntax'],
        ['limit=', 'strconv.ParseInt: parsing "": invalid syntax'],
        [
          'limit=99999999999999999999',
          'strconv.ParseInt: parsing "99999999999999999999": value out of range',
        ],
        ['limit=x&timeoutSeconds=y', 'strconv.ParseInt: parsing "y": invalid syntax'],
        ['timeout=x', 'invalid timeout specified in the request URL - time: invalid duration "x"'],
        ['timeout=5', 'invalid timeout specified in the request URL - time: missing unit in duration "5"'],
        [
          'timeout=5x',
          'invalid timeout specified in the request URL - time: unknown unit "x" in duration "5x"',
        ],
      ] as const)
        refused(await fixture.client.get(fixture.configMaps(query)), 400, why);
      assert.equal((await fixture.get(fixture.configMaps('watch=FALSE'))).kind, 'ConfigMapList');
    });

    it('for a revision of the future is 504, for one object and for lists', async () => {
      await fixture.create('one');
      const answer = await fixture.client.get(`${fixture.configMap('one')}?resourceVersion=999999999`);
      refused(answer, 504, /^Timeout: Too large resource version: 999999999, current: \d+$/);
    });

    it('with a body of another kind, another version, or none at all is 400', async () => {
      const post = (body: unknown): ReturnType<typeof fixture.client.post> =>
        fixture.client.post(fixture.configMaps(), body);
      const kind = await post({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' } });
      refused(kind, 400, /^Secret in version "v1" cannot be handled as a ConfigMap: /);
      const version = await post({ apiVersion: 'v2', kind: 'ConfigMap', metadata: { name: 'x' } });
      refused(version, 400, /^ConfigMap in version "v2" cannot be handled as a ConfigMap: /);
      const malformed = await post('{"metadata":');
      refused(malformed, 400, /^the object provided is unrecognized \(must be of type ConfigMap\): /);
    });

    it('with a body that is not JSON by its own content type is 415', async () => {
      const answer = await fixture.client.request('POST', fixture.configMaps(), {
        body: 'x',
        contentType: 'text/plain',
      });
      assert.equal(answer.status, 415);
      assert.equal(answer.body.reason, 'UnsupportedMediaType');
    });

    it('that accepts no format of the server is 406', async () => {
      const { status } = await fixture.client.get(fixture.configMaps(), { accept: 'text/csv' });
      assert.equal(status, 406);
    });

    it('for health and version is answered without a token', async () => {
      for (const path of ['/healthz', '/livez', '/readyz']) {
        const { status, text } = await fixture.client.get(path, { token: '', accept: '*/*' });
        assert.equal(status, 200);
        assert.equal(text, 'ok');
      }
      const { body } = await fixture.client.get('/version', { token: '' });
      assert.equal((body as unknown as { major: string }).major, '1');
    });
  });
  metadataSemantics(target);
}

const PARTIAL_LIST = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json';
const PARTIAL = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json';

function metadataSemantics(target: () => Promise<Target>): void {
  describe('PartialObjectMetadata', () => {
    const fixture = Fixture.use(target);

    it('is a list of metadata, each item with its kind', async () => {
      await fixture.create('a', { app: 'x' }, { secret: 'not here' });
      const body = await fixture.get(fixture.configMaps(), PARTIAL_LIST);
      assert.equal(body.kind, 'PartialObjectMetadataList');
      assert.equal(body.apiVersion, 'meta.k8s.io/v1');
      const [item] = body.items;
      assert.equal(item?.kind, 'PartialObjectMetadata');
      assert.equal(item?.apiVersion, 'meta.k8s.io/v1');
      assert.deepEqual(item?.metadata.labels, { app: 'x' });
      assert.equal(item?.data, undefined);
    });

    it('is one object, and the objects of a watch and its bookmarks', async () => {
      await fixture.create('a', {}, { secret: 'not here' });
      const one = await fixture.get(fixture.configMap('a'), PARTIAL);
      assert.equal(one.kind, 'PartialObjectMetadata');
      assert.equal(one.data, undefined);
      const query =
        'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
      const stream = await fixture.watch(fixture.configMaps(query), PARTIAL);
      for (const event of await stream.take(2)) {
        assert.equal(event.object.kind, 'PartialObjectMetadata');
        assert.equal(event.object.apiVersion, 'meta.k8s.io/v1');
        assert.equal(event.object.data, undefined);
      }
    });
  });
}
