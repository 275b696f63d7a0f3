/** Create and update: the fields that the server sets, and the result of concurrent writes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Fixture, refused } from './fixture.ts';
import type { Target } from './target.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

export function writeSemantics(target: () => Promise<Target>): void {
  describe('POST', () => {
    const fixture = Fixture.use(target);

    it('answers 201 with the object, its uid, resourceVersion, creationTimestamp, kind and apiVersion', async () => {
      const body = { metadata: { name: 'new', labels: { app: 'x' } }, data: { key: 'value' } };
      const answer = await fixture.client.post(fixture.configMaps(), body);
      assert.equal(answer.status, 201);
      const { kind, apiVersion, metadata, data } = answer.body;
      assert.equal(kind, 'ConfigMap');
      assert.equal(apiVersion, 'v1');
      assert.match(metadata.uid, UUID);
      assert.match(metadata.resourceVersion, /^[1-9]\d*$/);
      assert.match(metadata.creationTimestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      assert.equal(metadata.namespace, fixture.namespace);
      assert.deepEqual(metadata.labels, { app: 'x' });
      assert.deepEqual(data, { key: 'value' });
      assert.equal(metadata.generation, undefined, 'a ConfigMap has no spec, hence no generation');
      assert.match(
        answer.text,
        /^\{"kind":"ConfigMap","apiVersion":"v1","metadata":\{"name":"new","namespace":/,
      );
      assert.ok(answer.text.endsWith('}\n'));
    });

    it('makes a name of generateName and five characters', async () => {
      const body = { metadata: { generateName: 'gen-' } };
      const first = await fixture.post(fixture.configMaps(), body);
      const second = await fixture.post(fixture.configMaps(), body);
      assert.match(first.metadata.name, /^gen-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
      assert.notEqual(first.metadata.name, second.metadata.name);
      assert.equal(first.metadata.generateName, 'gen-');
    });

    it('cuts a long generateName, so that the name has 63 characters', async () => {
      const generateName = `${'p'.repeat(79)}-`;
      const { metadata } = await fixture.post(fixture.configMaps(), { metadata: { generateName } });
      assert.match(metadata.name, /^p{58}[bcdfghjklmnpqrstvwxz2456789]{5}$/);
      assert.equal(metadata.generateName, generateName);
    });

    it('of a name that exists is 409 AlreadyExists', async () => {
      await fixture.create('twice');
      const answer = await fixture.client.post(fixture.configMaps(), { metadata: { name: 'twice' } });
      refused(answer, 409, 'configmaps "twice" already exists', 'AlreadyExists');
      assert.deepEqual(answer.body.details, { name: 'twice', kind: 'configmaps' });
    });

    it('as a dry run has no resourceVersion, since nothing has been stored', async () => {
      const path = `${fixture.configMaps()}?dryRun=All`;
      const { metadata } = await fixture.post(path, { metadata: { name: 'dry' } });
      assert.match(metadata.uid, UUID);
      assert.equal('resourceVersion' in metadata, false);
      assert.equal((await fixture.client.get(fixture.configMap('dry'))).status, 404);
    });

    it('without a name is 422', async () => {
      const { status, body } = await fixture.client.post(fixture.configMaps(), { metadata: {} });
      assert.equal(status, 422);
      const field = 'metadata.name: Required value: name or generateName is required';
      assert.equal(body.message, `ConfigMap "" is invalid: ${field}`);
    });

    it('with an invalid name is 422', async () => {
      const answer = await fixture.client.post(fixture.configMaps(), { metadata: { name: 'Not_Valid' } });
      const message =
        /^ConfigMap "Not_Valid" is invalid: metadata\.name: Invalid value: "Not_Valid": a lowercase RFC 1123 subdomain must/;
      refused(answer, 422, message);
    });

    it('with a resourceVersion, or with another namespace, is refused', async () => {
      const versioned = { metadata: { name: 'versioned', resourceVersion: '5' } };
      const first = await fixture.client.post(fixture.configMaps(), versioned);
      refused(first, 500, 'resourceVersion should not be set on objects to be created');
      const elsewhere = { metadata: { name: 'elsewhere', namespace: 'other' } };
      const second = await fixture.client.post(fixture.configMaps(), elsewhere);
      const message = 'the namespace of the provided object does not match the namespace sent on the request';
      refused(second, 400, message);
    });

    it('into a namespace that does not exist is 404', async () => {
      const path = '/api/v1/namespaces/absent/configmaps';
      const answer = await fixture.client.post(path, { metadata: { name: 'x' } });
      refused(answer, 404, 'namespaces "absent" not found');
    });
  });
  updateSemantics(target);
  podWriteSemantics(target);
}

function updateSemantics(target: () => Promise<Target>): void {
  describe('PUT', () => {
    const fixture = Fixture.use(target);

    it('replaces the object when its resourceVersion is the present one', async () => {
      const created = await fixture.create('put', { a: '1' }, { old: '1' });
      const { name, resourceVersion } = created.metadata;
      const answer = await fixture.client.put(fixture.configMap('put'), {
        metadata: { name, resourceVersion },
        data: { new: '1' },
      });
      assert.equal(answer.status, 200);
      assert.deepEqual(answer.body.data, { new: '1' });
      assert.equal(answer.body.metadata.labels, undefined);
      assert.equal(answer.body.metadata.uid, created.metadata.uid);
      assert.equal(answer.body.metadata.creationTimestamp, created.metadata.creationTimestamp);
      assert.ok(BigInt(answer.body.metadata.resourceVersion) > BigInt(resourceVersion));
    });

    it('with a stale resourceVersion is 409 Conflict', async () => {
      const { metadata } = await fixture.create('stale');
      await fixture.touch('stale', '1');
      const answer = await fixture.client.put(fixture.configMap('stale'), {
        metadata: { name: 'stale', resourceVersion: metadata.resourceVersion },
      });
      const message =
        'Operation cannot be fulfilled on configmaps "stale": the object has been modified; please apply your changes to the latest version and try again';
      refused(answer, 409, message, 'Conflict');
      assert.deepEqual(answer.body.details, { name: 'stale', kind: 'configmaps' });
    });

    it('without a resourceVersion wins unconditionally', async () => {
      await fixture.create('unconditional');
      await fixture.touch('unconditional', '1');
      const body = { metadata: { name: 'unconditional' }, data: { mine: '1' } };
      assert.deepEqual((await fixture.put(fixture.configMap('unconditional'), body)).data, { mine: '1' });
    });

    it('of the same content keeps the resourceVersion', async () => {
      const created = await fixture.create('same', {}, { key: 'value' });
      const body = { metadata: { name: 'same' }, data: { key: 'value' } };
      const again = await fixture.put(fixture.configMap('same'), body);
      assert.equal(again.metadata.resourceVersion, created.metadata.resourceVersion);
    });

    it('as a dry run has the resourceVersion of the stored object', async () => {
      const { metadata } = await fixture.create('dry');
      const later = await fixture.create('written-later');
      assert.notEqual(later.metadata.resourceVersion, metadata.resourceVersion);
      const path = `${fixture.configMap('dry')}?dryRun=All`;
      const answer = await fixture.put(path, { metadata: { name: 'dry' }, data: { key: 'value' } });
      assert.deepEqual(answer.data, { key: 'value' });
      assert.equal(answer.metadata.resourceVersion, metadata.resourceVersion);
      assert.equal((await fixture.get(fixture.configMap('dry'))).data, undefined);
    });

    it('with another uid is 409: it is another object', async () => {
      await fixture.create('other-uid');
      const answer = await fixture.client.put(fixture.configMap('other-uid'), {
        metadata: { name: 'other-uid', uid: 'a-b' },
      });
      refused(answer, 409, /Precondition failed: UID in precondition: a-b, UID in object meta: /);
    });

    it('of an absent object is 404, and of another name 400', async () => {
      const absent = await fixture.client.put(fixture.configMap('absent'), { metadata: { name: 'absent' } });
      refused(absent, 404, 'configmaps "absent" not found');
      const other = await fixture.client.put(fixture.configMap('absent'), { metadata: { name: 'other' } });
      refused(other, 400, 'the name of the object (other) does not match the name on the URL (absent)');
    });
  });
}

function podWriteSemantics(target: () => Promise<Target>): void {
  describe('an object with spec and status', () => {
    const fixture = Fixture.use(target);

    it('has a generation that counts changes of the spec only', async () => {
      const created = await fixture.createPod('counted');
      assert.equal(created.metadata.generation, 1);
      const label = { metadata: { labels: { x: '1' } } };
      assert.equal((await fixture.patch(fixture.pod('counted'), label)).metadata.generation, 1);
      const spec = { spec: { activeDeadlineSeconds: 60 } };
      assert.equal((await fixture.patch(fixture.pod('counted'), spec)).metadata.generation, 2);
    });

    it('takes metadata through /status, but no owners', async () => {
      const { metadata } = await fixture.createPod('labelled');
      const path = `${fixture.pod('labelled')}/status`;
      const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u' }];
      const patch = { metadata: { labels: { a: '1' }, annotations: { b: '1' }, ownerReferences } };
      const patched = await fixture.patch(path, patch);
      assert.deepEqual([patched.metadata.labels, patched.metadata.annotations], [{ a: '1' }, { b: '1' }]);
      assert.equal((patched.metadata as { ownerReferences?: unknown }).ownerReferences, undefined);
      assert.equal(patched.metadata.uid, metadata.uid);
    });

    it('of a kind that counts no changes has no generation', async () => {
      const service = { metadata: { name: 'uncounted' }, spec: { ports: [{ port: 80 }] } };
      const path = `/api/v1/namespaces/${fixture.namespace}/services`;
      assert.equal((await fixture.post(path, service)).metadata.generation, undefined);
    });

    it('gets its status through /status, which leaves the rest alone', async () => {
      const created = await fixture.createPod('phased');
      assert.deepEqual((created.status as { phase: string }).phase, 'Pending');
      const both = { status: { phase: 'Running' }, spec: { activeDeadlineSeconds: 5 } };
      const main = await fixture.patch(fixture.pod('phased'), { status: { phase: 'Running' } });
      assert.deepEqual((main.status as { phase: string }).phase, 'Pending', 'not through the object itself');
      const status = await fixture.patch(`${fixture.pod('phased')}/status`, both);
      assert.deepEqual((status.status as { phase: string }).phase, 'Running');
      assert.equal(status.spec?.['activeDeadlineSeconds'], undefined);
      assert.equal(status.metadata.generation, 1);
    });
  });

  describe('a write', () => {
    const fixture = Fixture.use(target);

    it('with PUT creates a Lease or a Role that does not exist, but no ConfigMap', async () => {
      const lease = `/apis/coordination.k8s.io/v1/namespaces/${fixture.namespace}/leases/new`;
      const body = { metadata: { name: 'new' }, spec: {} };
      assert.equal((await fixture.client.put(lease, body)).status, 201);
      const again = await fixture.client.put(lease, body);
      const missing =
        'leases.coordination.k8s.io "new" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update';
      refused(again, 422, missing);
      const role = `/apis/rbac.authorization.k8s.io/v1/namespaces/${fixture.namespace}/roles/new`;
      assert.equal((await fixture.client.put(role, { metadata: { name: 'new' }, rules: [] })).status, 201);
      const dry = await fixture.client.put(`${role}er?dryRun=All`, {
        metadata: { name: 'newer' },
        rules: [],
      });
      assert.equal(dry.status, 201);
      assert.equal(dry.body.metadata.resourceVersion, undefined);
      refused(
        await fixture.client.put(fixture.configMap('new'), { metadata: { name: 'new' } }),
        404,
        /not found$/,
      );
    });

    it('with the resourceVersion 0 is unconditional, and with a text as resourceVersion 500', async () => {
      await fixture.create('one');
      await fixture.put(fixture.configMap('one'), { metadata: { name: 'one', resourceVersion: '0' } });
      const text = await fixture.client.put(fixture.configMap('one'), {
        metadata: { name: 'one', resourceVersion: 'abc' },
      });
      refused(text, 500, 'strconv.ParseUint: parsing "abc": invalid syntax');
    });

    it('answers with metadata only, or not at all, as the client accepts', async () => {
      const send = (accept: string): ReturnType<typeof fixture.client.request> =>
        fixture.client.request('POST', fixture.configMaps(), { body: { metadata: { name: 'a' } }, accept });
      assert.equal((await send('text/csv')).status, 406);
      const partial = await send('application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1');
      assert.equal(partial.status, 201);
      assert.equal(partial.body.kind, 'PartialObjectMetadata');
    });

    it('by a patch that makes another kind, or an object of wrong types, is 422', async () => {
      await fixture.create('one');
      const kind = await fixture.client.mergePatch(fixture.configMap('one'), { kind: 'Secret' });
      refused(kind, 422, /^ "" is invalid: patch: Invalid value: ".*": converting \(v1\.Secret\) to /);
      const labels = await fixture.client.mergePatch(fixture.configMap('one'), { metadata: { labels: 5 } });
      refused(
        labels,
        422,
        /: json: cannot unmarshal number into Go struct field ObjectMeta\.metadata\.labels of type /,
      );
      const uid = await fixture.client.mergePatch(fixture.configMap('one'), { metadata: { uid: 'x' } });
      refused(uid, 422, 'ConfigMap "one" is invalid: metadata.uid: Invalid value: "x": field is immutable');
    });

    it('by a JSON patch with operations of wrong types is 400, and 422 for a null as path', async () => {
      await fixture.create('one');
      const send = (operation: object): ReturnType<typeof fixture.client.request> =>
        fixture.client.request('PATCH', fixture.configMap('one'), {
          body: [operation],
          contentType: 'application/json-patch+json',
        });
      const text = 'error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp';
      refused(await send({ op: 'add', path: 5, value: 1 }), 400, `${text}.path of type string`);
      refused(await send({ op: 'move', path: '/a', from: 5 }), 400, `${text}.from of type string`);
      assert.equal((await send({ op: 'add', path: null, value: 1 })).status, 422);
    });

    it('of the annotations of a Deployment counts as a generation', async () => {
      const path = `/apis/apps/v1/namespaces/${fixture.namespace}/deployments`;
      const labels = { app: 'x' };
      const containers = [{ name: 'main', image: 'example.com/app:1' }];
      const template = { metadata: { labels }, spec: { containers } };
      const spec = { selector: { matchLabels: labels }, template };
      await fixture.post(path, { metadata: { name: 'web' }, spec });
      const { metadata } = await fixture.patch(`${path}/web`, { metadata: { annotations: { a: 'b' } } });
      assert.equal(metadata.generation, 2);
    });

    it('has warnings in UTF-8', async () => {
      const body = { metadata: { name: 'warned', 日本: 1 } };
      const { status, headers } = await fixture.client.post(fixture.configMaps(), body);
      assert.equal(status, 201);
      const warning = Buffer.from(String(headers['warning']), 'latin1').toString();
      assert.equal(warning, String.raw`299 - "unknown field \"metadata.日本\""`);
    });
  });
}
