/** DELETE: one object, many, with preconditions, with finalizers; and the resulting events. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Fixture, names, ok, refused } from './fixture.ts';
import type { Target } from './target.ts';
import { brief } from './client.ts';

export function deleteSemantics(target: () => Promise<Target>): void {
  describe('DELETE', () => {
    const fixture = Fixture.use(target);

    it('of a ConfigMap answers with a Status that names it, and removes it', async () => {
      const { metadata } = await fixture.create('gone');
      const { status, body } = await fixture.client.delete(fixture.configMap('gone'));
      assert.equal(status, 200);
      assert.equal(body.kind, 'Status');
      assert.equal(body.status, 'Success');
      assert.deepEqual(body.details, { name: 'gone', kind: 'configmaps', uid: metadata.uid });
      const after = await fixture.client.get(fixture.configMap('gone'));
      assert.equal(after.status, 404);
    });

    it('of a pod answers with the pod, after an event with a deletionTimestamp and one of the deletion', async () => {
      const created = await fixture.createPod('ending');
      const { resourceVersion } = created.metadata;
      const stream = await fixture.watch(fixture.pods(`watch=1&resourceVersion=${resourceVersion}`));
      const body = ok(await fixture.client.delete(fixture.pod('ending')));
      assert.equal(body.kind, 'Pod');
      assert.equal(body.metadata.name, 'ending');
      const [ending, gone] = await stream.take(2);
      assert.equal(brief(ending), 'MODIFIED ending');
      assert.notEqual(ending?.object.metadata.deletionTimestamp, undefined);
      assert.equal(ending?.object.metadata.deletionGracePeriodSeconds, 0);
      assert.equal(ending?.object.metadata.generation, 2);
      assert.equal(brief(gone), 'DELETED ending');
    });

    it('with options that do not exist, or that contradict each other, is 422', async () => {
      await fixture.create('kept');
      for (const [options, why] of [
        [
          { propagationPolicy: 'Frob' },
          'propagationPolicy: Unsupported value: "Frob": supported values: "Foreground", "Background", "Orphan", "nil"',
        ],
        [
          { propagationPolicy: 'Orphan', orphanDependents: true },
          'propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set',
        ],
        [{ dryRun: ['Some'] }, 'dryRun: Unsupported value: ["Some"]: supported values: "All"'],
      ] as const) {
        const answer = await fixture.client.delete(fixture.configMap('kept'), options);
        refused(answer, 422, `DeleteOptions.meta.k8s.io "" is invalid: ${why}`);
      }
      await fixture.get(fixture.configMap('kept'));
    });

    it('decodes the options as Go does', async () => {
      await fixture.create('kept');
      for (const [options, why] of [
        [
          { kind: 'ConfigMap', apiVersion: 'v1' },
          /^no kind "ConfigMap" is registered for version "v1" in scheme /,
        ],
        [
          [],
          /^couldn't get version\/kind; json parse error: json: cannot unmarshal array into Go value of type struct /,
        ],
        [
          { gracePeriodSeconds: 'x' },
          'json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64',
        ],
        [
          { dryRun: 'All' },
          'json: cannot unmarshal string into Go struct field DeleteOptions.dryRun of type []string',
        ],
        [
          { preconditions: { uid: 5 } },
          'json: cannot unmarshal number into Go struct field Preconditions.preconditions.uid of type types.UID',
        ],
      ] as const) {
        refused(await fixture.client.delete(fixture.configMap('kept'), options), 400, why);
      }
      const body = { body: '{}', contentType: 'text/plain' };
      assert.equal((await fixture.client.request('DELETE', fixture.configMap('kept'), body)).status, 415);
      const number = await fixture.client.delete(`${fixture.configMap('kept')}?gracePeriodSeconds=x`);
      refused(number, 400, 'strconv.ParseInt: parsing "x": invalid syntax');
      const uid = await fixture.client.delete(`${fixture.configMap('kept')}?uid=x`);
      refused(uid, 409, /the UID in the precondition \(x\) does not match the UID in record/);
      const both = await fixture.client.delete(`${fixture.configMap('kept')}?dryRun=x`, { dryRun: ['All'] });
      assert.equal(both.status, 200, 'a body counts, and no parameters beside it');
    });

    it('as a dry run answers with the object that a finalizer would keep, and changes nothing', async () => {
      const metadata = { name: 'held', finalizers: ['example.com/hold'] };
      const { metadata: before } = await fixture.post(fixture.configMaps(), { metadata });
      const dry = `${fixture.configMap('held')}?dryRun=All`;
      const { metadata: after } = ok(await fixture.client.delete(`${dry}&propagationPolicy=Foreground`));
      assert.deepEqual(after.finalizers, ['example.com/hold', 'foregroundDeletion']);
      assert.notEqual(after.deletionTimestamp, undefined);
      assert.equal(after.resourceVersion, before.resourceVersion);
      assert.equal((await fixture.get(fixture.configMap('held'))).metadata.deletionTimestamp, undefined);
      ok(await fixture.client.delete(fixture.configMap('held')));
      const older = await fixture.client.delete(fixture.configMap('held'), { orphanDependents: false });
      assert.equal(older.status, 202);
    });

    it('with a precondition that does not hold is 409 and deletes nothing', async () => {
      const { metadata } = await fixture.create('guarded');
      const byUid = await fixture.client.delete(fixture.configMap('guarded'), {
        preconditions: { uid: 'xx' },
      });
      const ofUid = `Operation cannot be fulfilled on ConfigMap "guarded": the UID in the precondition (xx) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`;
      refused(byUid, 409, ofUid);
      const byVersion = await fixture.client.delete(fixture.configMap('guarded'), {
        preconditions: { resourceVersion: '1' },
      });
      const ofVersion = `Operation cannot be fulfilled on ConfigMap "guarded": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`;
      refused(byVersion, 409, ofVersion);
      await fixture.get(fixture.configMap('guarded'));
      ok(await fixture.client.delete(fixture.configMap('guarded'), { preconditions: { uid: metadata.uid } }));
    });

    it('of an absent object is 404', async () => {
      const answer = await fixture.client.delete(fixture.configMap('absent'));
      refused(answer, 404, 'configmaps "absent" not found');
      assert.deepEqual(answer.body.details, { name: 'absent', kind: 'configmaps' });
    });

    it('of an object with a finalizer only marks it; it is deleted when the finalizer is removed', async () => {
      const metadata = { name: 'held', finalizers: ['example.com/hold'] };
      const created = await fixture.post(fixture.configMaps(), { metadata });
      const from = created.metadata.resourceVersion;
      const stream = await fixture.watchFrom(from);

      const marked = ok(await fixture.client.delete(fixture.configMap('held')));
      assert.notEqual(marked.metadata.deletionTimestamp, undefined);
      assert.equal(marked.metadata.deletionGracePeriodSeconds, 0);
      const again = ok(await fixture.client.delete(fixture.configMap('held')));
      assert.equal(again.metadata.resourceVersion, marked.metadata.resourceVersion, 'marked once');
      await fixture.patch(fixture.configMap('held'), { metadata: { finalizers: null } });

      const [modified, deleted] = await stream.take(2);
      assert.equal(brief(modified), 'MODIFIED held');
      assert.equal(brief(deleted), 'DELETED held');
      assert.deepEqual(
        deleted?.object.metadata.finalizers,
        ['example.com/hold'],
        'the last state that was stored',
      );
      assert.equal((await fixture.client.get(fixture.configMap('held'))).status, 404);
    });
  });
  describe('deletecollection', () => {
    const fixture = Fixture.use(target);

    it('deletes the objects that match the selector and answers with them', async () => {
      await fixture.create('a', { doomed: 'yes' });
      const { metadata } = await fixture.create('b', { doomed: 'yes' });
      await fixture.create('c');
      const body = ok(await fixture.client.delete(fixture.configMaps('labelSelector=doomed%3Dyes')));
      assert.equal(body.kind, 'ConfigMapList');
      assert.deepEqual(names(body), ['a', 'b']);
      assert.deepEqual(names(await fixture.list()), ['c']);
      const stream = await fixture.watchFrom(metadata.resourceVersion);
      const events = (await stream.take(3)).map(brief);
      assert.equal(events[0], 'ADDED c');
      assert.deepEqual(events.slice(1).sort(), ['DELETED a', 'DELETED b']);
    });

    it('checks preconditions, and deletes nothing as a dry run', async () => {
      await fixture.create('a');
      const other = await fixture.client.delete(fixture.configMaps(), { preconditions: { uid: 'x' } });
      refused(
        other,
        409,
        /^Operation cannot be fulfilled on ConfigMap ".*": the UID in the precondition \(x\) /,
      );
      ok(await fixture.client.delete(fixture.configMaps(), { dryRun: ['All'] }));
      ok(await fixture.client.delete(fixture.configMaps('dryRun=All')));
      await fixture.get(fixture.configMap('a'));
    });

    it('needs a namespace, and is not offered for namespaces', async () => {
      const message = 'the server does not allow this method on the requested resource';
      for (const path of ['/api/v1/configmaps', '/api/v1/namespaces', '/apis/apps/v1/deployments'])
        refused(await fixture.client.delete(path), 405, message, 'MethodNotAllowed');
    });
  });
}
