/** PATCH: merge patch, JSON patch and kubectl's patches. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Answer } from './client.ts';
import { Fixture, ok, refused } from './fixture.ts';
import type { Target } from './target.ts';

const JSON_PATCH = 'application/json-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json';
const APPLY = 'application/apply-patch+yaml';
const UNPROCESSABLE = 'the server rejected our request due to an error in our request';

export function patchSemantics(target: () => Promise<Target>): void {
  describe('PATCH', () => {
    const fixture = Fixture.use(target);

    function patch(path: string, contentType: string, body: unknown): Promise<Answer> {
      return fixture.client.request('PATCH', path, { body, contentType });
    }

    it('as merge patch sets, and removes with null', async () => {
      await fixture.create('merge', { keep: '1', drop: '1' }, { a: '1', b: '1' });
      const body = { metadata: { labels: { drop: null } }, data: { a: null, c: '1' } };
      const patched = await fixture.patch(fixture.configMap('merge'), body);
      assert.deepEqual(patched.data, { b: '1', c: '1' });
      assert.deepEqual(patched.metadata.labels, { keep: '1' });
    });

    it('with a stale resourceVersion inside is 409, without one it never is', async () => {
      const { metadata } = await fixture.create('versioned');
      await fixture.touch('versioned', '1');
      const stale = await fixture.client.mergePatch(fixture.configMap('versioned'), {
        metadata: { resourceVersion: metadata.resourceVersion },
        data: { x: '1' },
      });
      refused(stale, 409, /^Operation cannot be fulfilled on configmaps "versioned": the object has been/);
      await fixture.patch(fixture.configMap('versioned'), { data: { x: '1' } });
    });

    it('as JSON patch adds, replaces, removes, copies and tests', async () => {
      await fixture.create('json', { 'example.com/team': 'blue' }, { a: '1' });
      const patched = ok(
        await patch(fixture.configMap('json'), JSON_PATCH, [
          { op: 'test', path: '/data/a', value: '1' },
          { op: 'add', path: '/data/b', value: '2' },
          { op: 'replace', path: '/data/a', value: '3' },
          { op: 'copy', from: '/data/b', path: '/data/c' },
          { op: 'replace', path: '/metadata/labels/example.com~1team', value: 'red' },
        ]),
      );
      assert.deepEqual(patched.data, { a: '3', b: '2', c: '2' });
      assert.deepEqual(patched.metadata.labels, { 'example.com/team': 'red' });
      const removed = ok(
        await patch(fixture.configMap('json'), JSON_PATCH, [{ op: 'remove', path: '/data/a' }]),
      );
      assert.deepEqual(removed.data, { b: '2', c: '2' });
    });

    it('as JSON patch that does not apply is 422 and changes nothing', async () => {
      const created = await fixture.create('unapplied', {}, { a: '1' });
      for (const operations of [
        [
          { op: 'add', path: '/data/b', value: '2' },
          { op: 'test', path: '/data/a', value: '9' },
        ],
        [{ op: 'remove', path: '/data/absent' }],
      ]) {
        const answer = await patch(fixture.configMap('unapplied'), JSON_PATCH, operations);
        refused(answer, 422, UNPROCESSABLE, 'Invalid');
      }
      const now = await fixture.get(fixture.configMap('unapplied'));
      assert.equal(now.metadata.resourceVersion, created.metadata.resourceVersion);
    });

    it('as JSON patch that is not a list is 400', async () => {
      await fixture.create('malformed');
      const answer = await patch(fixture.configMap('malformed'), JSON_PATCH, { op: 'add' });
      refused(answer, 400, /^error decoding patch: json: cannot unmarshal object into Go value of type/);
    });

    it('as JSON patch tests by value, counts from the end, and takes an absent member for null', async () => {
      const annotations = { a: '1' };
      await fixture.create('values', { b: '1', a: '1' });
      const path = fixture.configMap('values');
      ok(
        await patch(path, JSON_PATCH, [
          { op: 'test', path: '/metadata/labels', value: { a: '1', b: '1' } },
          { op: 'test', path: '/metadata/annotations', value: null },
          { op: 'add', path: '/metadata/annotations', value: annotations },
          { op: 'add', path: '/metadata/finalizers', value: ['a.b/1', 'a.b/3'] },
          { op: 'add', path: '/metadata/finalizers/1', value: 'a.b/2' },
          { op: 'remove', path: '/metadata/finalizers/-1' },
        ]),
      );
      const moved = ok(
        await patch(path, JSON_PATCH, [
          { op: 'move', from: '/metadata/finalizers/0', path: '/metadata/finalizers/1' },
        ]),
      );
      assert.deepEqual(moved.metadata.finalizers, ['a.b/2', 'a.b/1']);
      assert.deepEqual(moved.metadata.annotations, annotations);
      ok(await patch(path, JSON_PATCH, [{ op: 'remove', path: '/metadata/finalizers' }]));
    });

    it('as JSON patch with a wrong index, an unknown operation or a path of no object is 422', async () => {
      await fixture.create('wrong', {}, { a: '1' });
      await fixture.patch(fixture.configMap('wrong'), { metadata: { finalizers: ['a.b/1'] } });
      for (const operation of [
        { op: 'add', path: '/metadata/finalizers/', value: 'a.b/c' },
        { op: 'add', path: '/metadata/finalizers/9', value: 'a.b/c' },
        { op: 'add', path: '/metadata/finalizers/x', value: 'a.b/c' },
        { op: 'add', path: '/data/a/b', value: '1' },
        { op: 'frob', path: '/data/a' },
        { op: 'move', from: '/data/absent', path: '/data/b' },
      ]) {
        const { status } = await patch(fixture.configMap('wrong'), JSON_PATCH, [operation]);
        assert.equal(status, 422, JSON.stringify(operation));
      }
      const text = await patch(fixture.configMap('wrong'), JSON_PATCH, ['x']);
      refused(text, 400, /cannot unmarshal string into Go value of type handlers\.jsonPatchOp$/);
      await fixture.patch(fixture.configMap('wrong'), { metadata: { finalizers: null } });
    });

    it('that renames the object is 400', async () => {
      await fixture.create('renamed');
      const answer = await fixture.client.mergePatch(fixture.configMap('renamed'), {
        metadata: { name: 'other' },
      });
      refused(answer, 400, 'the name of the object (other) does not match the name on the URL (renamed)');
    });

    it('as strategic merge patch follows its directives', async () => {
      await fixture.create('directed', { a: '1' });
      const path = fixture.configMap('directed');
      const strategic = (metadata: object): Promise<Answer> => patch(path, STRATEGIC, { metadata });
      ok(await strategic({ finalizers: ['a.b/1'] }));
      const added = ok(await strategic({ finalizers: ['a.b/2'], labels: { b: '2' } }));
      assert.deepEqual(added.metadata.finalizers, ['a.b/2', 'a.b/1'], 'new values come first');
      assert.deepEqual(added.metadata.labels, { a: '1', b: '2' });
      const replaced = ok(await strategic({ labels: { $patch: 'replace', c: '3' } }));
      assert.deepEqual(replaced.metadata.labels, { c: '3' });
      const gone = ok(await strategic({ '$deleteFromPrimitiveList/finalizers': ['a.b/1', 'a.b/2'] }));
      assert.equal(gone.metadata.finalizers, undefined);
      const unknown = await strategic({ labels: { $patch: 'frob' } });
      refused(unknown, 500, 'unknown patch type: frob in map: map[$patch:frob]');
    });

    it('as strategic merge patch with a wrong directive is refused', async () => {
      const pod = { containers: [{ name: 'c', image: 'i' }], volumes: [{ name: 'v', emptyDir: {} }] };
      await fixture.post(fixture.pods(), { metadata: { name: 'wrong', finalizers: ['a.b/1'] }, spec: pod });
      const containers = [{ name: 'c', image: 'j' }];
      const order = '$setElementOrder/containers';
      const key = 'does not contain declared merge key: name';
      for (const [body, code, why] of [
        [{ $patch: 'merge' }, 500, 'unknown patch type: merge in map: map[$patch:merge]'],
        [{ spec: { $retainKeys: 'x' } }, 400, 'invalid patch format of retainKeys'],
        [{ spec: { $retainKeys: ['volumes'], containers } }, 400, 'invalid patch format of retainKeys'],
        [{ spec: { $setElementOrder: [] } }, 400, 'invalid patch format of setElementOrder list'],
        [{ spec: { [order]: 'c' } }, 500, 'expected a []interface {}, but received a string'],
        [{ spec: { [order]: [{}] } }, 500, `map: map[] ${key}`],
        [
          { spec: { [order]: [{ name: 'x' }], containers } },
          500,
          "The order in patch list:\n[map[image:j name:c]]\n doesn't match $setElementOrder list:\n[map[name:x]]\n",
        ],
        [{ metadata: { $deleteFromPrimitiveList: [] } }, 400, 'invalid patch format of primitive list'],
        [
          { metadata: { '$deleteFromPrimitiveList/finalizers': [5] } },
          500,
          'list element types are not identical: [[a.b/1] [5]]',
        ],
        [{ metadata: { finalizers: [{}] } }, 500, 'list element types are not identical: [[a.b/1] [map[]]]'],
        [
          { spec: { containers: [{ name: 'c', $patch: 'merge' }] } },
          500,
          'merging lists cannot yet be specified in the patch',
        ],
        [{ spec: { containers: [{ $patch: 'delete' }] } }, 500, `map: map[$patch:delete] ${key}`],
        [{ spec: { containers: [{ $patch: 'x' }] } }, 500, 'unknown patch type: x in map: map[$patch:x]'],
        [[], 400, 'json: cannot unmarshal array into Go value of type map[string]interface {}'],
      ] as const) {
        refused(await patch(fixture.pod('wrong'), STRATEGIC, body), code, why);
      }
      ok(await patch(fixture.pod('wrong'), STRATEGIC, { apiVersion: 'x', kind: 'y' }));
    });

    it('as strategic merge patch merges containers by name', async () => {
      await fixture.createPod('strategic');
      const body = { spec: { containers: [{ name: 'main', image: 'example.com/app:2' }] } };
      const patched = ok(await patch(fixture.pod('strategic'), STRATEGIC, body));
      const containers = patched.spec?.['containers'] as Array<Record<string, unknown>>;
      assert.equal(containers.length, 1);
      assert.equal(containers[0]?.['image'], 'example.com/app:2');
    });

    it('as server-side apply creates, then changes', async () => {
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied' }, data: { a: '1' } };
      const path = `${fixture.configMap('applied')}?fieldManager=semantics`;
      assert.equal((await patch(path, APPLY, object)).status, 201);
      const again = await patch(path, APPLY, { ...object, data: { a: '2' } });
      assert.equal(again.status, 200);
      assert.deepEqual(again.body.data, { a: '2' });
    });

    it('of an absent object is 404, of an unknown type 415', async () => {
      const absent = await fixture.client.mergePatch(fixture.configMap('absent'), {});
      refused(absent, 404, 'configmaps "absent" not found');
      const unknown = await patch(fixture.configMap('absent'), 'application/json', {});
      assert.equal(unknown.status, 415);
      assert.equal(unknown.body.reason, 'UnsupportedMediaType');
    });
  });
}
