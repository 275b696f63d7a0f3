/** PATCH: merge patch, JSON patch and kubectl's patches. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Answer } from './client.ts';
import { Fixture, ok } from './fixture.ts';
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
      const patched = ok(await fixture.client.mergePatch(fixture.configMap('merge'), body));
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
      assert.equal(stale.status, 409);
      assert.match(
        stale.body.message ?? '',
        /^Operation cannot be fulfilled on configmaps "versioned": the object has been/,
      );
      ok(await fixture.client.mergePatch(fixture.configMap('versioned'), { data: { x: '1' } }));
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
        const { status, body } = await patch(fixture.configMap('unapplied'), JSON_PATCH, operations);
        assert.equal(status, 422);
        assert.equal(body.reason, 'Invalid');
        assert.equal(body.message, UNPROCESSABLE);
      }
      const now = ok(await fixture.client.get(fixture.configMap('unapplied')));
      assert.equal(now.metadata.resourceVersion, created.metadata.resourceVersion);
    });

    it('as JSON patch that is not a list is 400', async () => {
      await fixture.create('malformed');
      const { status, body } = await patch(fixture.configMap('malformed'), JSON_PATCH, { op: 'add' });
      assert.equal(status, 400);
      assert.match(
        body.message ?? '',
        /^error decoding patch: json: cannot unmarshal object into Go value of type/,
      );
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
      assert.equal(absent.status, 404);
      assert.equal(absent.body.message, 'configmaps "absent" not found');
      const unknown = await patch(fixture.configMap('absent'), 'application/json', {});
      assert.equal(unknown.status, 415);
      assert.equal(unknown.body.reason, 'UnsupportedMediaType');
    });
  });
}
