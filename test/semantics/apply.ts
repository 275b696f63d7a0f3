/** Server-side apply, and the ownership of fields in every other write. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Body } from './client.ts';
import { Applier, causesOf, entriesOf, ownersOf } from './applier.ts';
import { customOwnershipSemantics } from './apply-kinds.ts';
import { Fixture, ok, refused } from './fixture.ts';
import { takeOverSemantics } from './take-over.ts';
import type { Target } from './target.ts';

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

export function applySemantics(target: () => Promise<Target>): void {
  ownershipSemantics(target);
  conflictSemantics(target);
  refusalSemantics(target);
  updateOwnershipSemantics(target);
  customOwnershipSemantics(target);
  takeOverSemantics(target);
}

function ownershipSemantics(target: () => Promise<Target>): void {
  describe('server-side apply', () => {
    const fixture = Fixture.use(target, 'together');
    const applier = new Applier(fixture);

    it('creates an object, whose manager owns what it applied', async () => {
      const answer = await applier.send('new', 'one', { metadata: { labels: { x: '1' } }, data: { a: '1' } });
      assert.equal(answer.status, 201);
      const [entry] = entriesOf(answer.body);
      const members = 'manager operation apiVersion time fieldsType fieldsV1';
      assert.equal(Object.keys(entry ?? {}).join(' '), members);
      assert.match(entry?.time ?? '', TIME);
      const fieldsV1 = { 'f:data': { 'f:a': {} }, 'f:metadata': { 'f:labels': { 'f:x': {} } } };
      assert.deepEqual(ownersOf(answer.body), { 'Apply one': fieldsV1 });
      assert.deepEqual([entry?.apiVersion, entry?.fieldsType], ['v1', 'FieldsV1']);
    });

    it('of the same configuration changes nothing, not even the resourceVersion', async () => {
      const first = await applier.apply('same', 'one', { data: { a: '1' } });
      const again = await applier.apply('same', 'one', { data: { a: '1' } });
      assert.equal(again.metadata.resourceVersion, first.metadata.resourceVersion);
    });

    it('removes what the manager applies no longer, unless another manager owns it', async () => {
      await applier.apply('shared', 'one', { data: { a: '1', b: '1' } });
      await applier.apply('shared', 'two', { data: { a: '1', c: '1' } });
      const dropped = await applier.apply('shared', 'one', { metadata: { labels: { y: '1' } } });
      assert.deepEqual(dropped.data, { a: '1', c: '1' });
      const gone = await applier.apply('shared', 'two', {});
      assert.equal(gone.data, undefined);
      assert.deepEqual(ownersOf(gone), { 'Apply one': { 'f:metadata': { 'f:labels': { 'f:y': {} } } } });
    });

    it('merges finalizers as a set and owners by uid', async () => {
      const owner = (uid: string): object => ({
        apiVersion: 'example.com/v1',
        kind: 'Absent',
        name: uid,
        uid,
      });
      const parts = (number: number): object => ({
        metadata: { finalizers: [`example.com/${number}`], ownerReferences: [owner(`u${number}`)] },
      });
      await applier.apply('lists', 'one', parts(1));
      const both = await applier.apply('lists', 'two', parts(2));
      assert.deepEqual(both.metadata.finalizers, ['example.com/1', 'example.com/2']);
      assert.deepEqual(ownersOf(both)['Apply two'], {
        'f:metadata': {
          'f:finalizers': { 'v:"example.com/2"': {} },
          'f:ownerReferences': { 'k:{"uid":"u2"}': {} },
        },
      });
      const one = await applier.apply('lists', 'one', {});
      assert.deepEqual(one.metadata.finalizers, ['example.com/2']);
      await applier.apply('lists', 'two', {});
    });

    it('gives what an object contained before to the manager before-first-apply', async () => {
      await fixture.create('before', {}, { a: '1', b: '1' });
      await fixture.patch(fixture.configMap('before'), { metadata: { managedFields: [] } });
      const applied = await applier.apply('before', 'one', { data: { a: '1' } });
      assert.deepEqual(ownersOf(applied), {
        'Apply one': { 'f:data': { 'f:a': {} } },
        'Update before-first-apply': { 'f:data': { '.': {}, 'f:a': {}, 'f:b': {} } },
      });
    });

    it('reads YAML', async () => {
      const yaml = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yaml\ndata:\n  a: "1"\n';
      const answer = await applier.raw(`${fixture.configMap('yaml')}?fieldManager=one`, yaml);
      assert.deepEqual(ok(answer).data, { a: '1' });
    });

    it('reads YAML 1.1: octal numbers, yes and on, the last of two equal keys, one document', async () => {
      const start = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yaml}\n`;
      const path = `${fixture.configMap('yaml')}?fieldManager=two`;
      const twice = await applier.raw(path, `${start}data: {b: "1", b: "0644"}\n---\n- other\n`);
      assert.equal(ok(twice).data?.['b'], '0644');
      const typed = await applier.raw(path, `${start}immutable: off\ndata: {b: "0644"}\n`);
      assert.equal((ok(typed) as { readonly immutable?: boolean }).immutable, false);
      const event = `apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: yaml}\n`;
      const leases = `/apis/coordination.k8s.io/v1/namespaces/${fixture.namespace}/leases/yaml?fieldManager=one`;
      const lease = await applier.raw(leases, `${event}spec: {leaseDurationSeconds: 0644}\n`);
      assert.equal(ok(lease).spec?.['leaseDurationSeconds'], 420);
    });

    it('refuses YAML that grows by aliases', async () => {
      const names = ['b', 'c', 'd', 'e', 'f', 'g', 'h'];
      const lines = names.map((name, index) => {
        const before = ['a', ...names][index] ?? '';
        return `${name}: &${name} [${Array.from({ length: 10 }, () => `*${before}`).join()}]`;
      });
      const yaml = ['apiVersion: v1', 'kind: ConfigMap', 'a: &a [1,1,1,1,1,1,1,1,1,1]', ...lines].join('\n');
      const { status, body } = await applier.raw(`${fixture.configMap('yaml')}?fieldManager=one`, yaml);
      const why = 'error converting YAML to JSON: yaml: document contains excessive aliasing';
      assert.deepEqual([status, body.message], [400, `error decoding YAML: ${why}`]);
    });

    it('with dryRun stores nothing', async () => {
      assert.equal((await applier.send('dry', 'one', { data: { a: '1' } }, '&dryRun=All')).status, 201);
      assert.equal((await fixture.client.get(fixture.configMap('dry'))).status, 404);
    });
  });
}

function conflictSemantics(target: () => Promise<Target>): void {
  describe('a conflict of server-side apply', () => {
    const fixture = Fixture.use(target, 'together');
    const applier = new Applier(fixture);

    it('is 409 and names the field and its manager', async () => {
      await applier.apply('one-field', 'one', { data: { a: '1' } });
      const answer = await applier.send('one-field', 'two', { data: { a: '2' } });
      assert.equal(answer.body.message, 'Apply failed with 1 conflict: conflict with "one": .data.a');
      assert.deepEqual(causesOf(answer), [
        { reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.data.a' },
      ]);
    });

    it('with several managers lists the fields of each', async () => {
      await fixture.create('several', {}, { z: '1' });
      await applier.apply('several', 'one', { data: { a: '1', b: '1' } });
      const answer = await applier.send('several', 'two', { data: { a: '2', b: '2', z: '2' } });
      const lines = [
        'Apply failed with 3 conflicts: conflicts with "kubeloom-semantics" using v1:',
        '- .data.z',
        'conflicts with "one":',
        '- .data.a',
        '- .data.b',
      ];
      assert.equal(answer.body.message, lines.join('\n'));
      assert.equal(causesOf(answer).length, 3);
    });

    it('is overcome with force, which takes the field from its manager', async () => {
      await applier.apply('forced', 'one', { data: { a: '1', b: '1' } });
      const forced = await applier.apply('forced', 'two', { data: { a: '2' } }, '&force=true');
      assert.deepEqual(forced.data, { a: '2', b: '1' });
      assert.deepEqual(ownersOf(forced), {
        'Apply one': { 'f:data': { 'f:b': {} } },
        'Apply two': { 'f:data': { 'f:a': {} } },
      });
    });
  });
}

function refusalSemantics(target: () => Promise<Target>): void {
  describe('server-side apply refuses', () => {
    const fixture = Fixture.use(target, 'together');
    const applier = new Applier(fixture);
    const refuses = async (
      body: unknown,
      why: string | RegExp,
      query = '?fieldManager=one',
    ): Promise<void> => {
      const { status, body: answer } = await applier.raw(`${fixture.configMap('a')}${query}`, body);
      const said = `${status} ${answer.message}`;
      if (typeof why === 'string') assert.equal(said, why);
      else assert.match(said, why);
    };
    const object = (parts: object = {}): object => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a', ...parts },
    });
    before(() => applier.apply('a', 'one', { data: { a: '1' } }));

    it('a request without a manager, and a force without an apply', async () => {
      const options = '422 PatchOptions.meta.k8s.io "" is invalid:';
      await refuses(object(), `${options} fieldManager: Required value: is required for apply patch`, '');
      const { body } = await fixture.client.mergePatch(`${fixture.configMap('a')}?force=true`, {});
      assert.match(body.message ?? '', /force: Forbidden: may not be specified for non-apply patch$/);
    });

    it('an object of another kind, name or namespace, and no object', async () => {
      await refuses({}, '400 invalid object type: /, Kind=');
      const secret = { ...object(), kind: 'Secret' };
      await refuses(secret, '400 invalid object type: /v1, Kind=Secret');
      await refuses(
        object({ name: 'b' }),
        '400 the name of the object (b) does not match the name on the URL (a)',
      );
      await refuses(object({ namespace: 'other' }), /^400 the namespace of the provided object/);
      await refuses('{', /^400 error decoding YAML: /);
      await refuses([], /^400 error decoding YAML: /);
    });

    it('managers in the configuration, a stale resourceVersion, and a uid of an object that is absent', async () => {
      await refuses(object({ managedFields: [] }), '400 metadata.managedFields must be nil');
      await refuses(object({ resourceVersion: '1' }), /^409 Operation cannot be fulfilled/);
      const absent = await applier.send('absent', 'one', { metadata: { uid: 'abc' } });
      refused(absent, 409, /uid mismatch: the provided object specified uid abc, and no existing/);
    });

    it('an item of a set twice, and metadata that does not exist', async () => {
      const start = '500 failed to create typed patch object (/a; /v1, Kind=ConfigMap): ';
      await refuses(
        object({ finalizers: ['a.b/c', 'a.b/c'] }),
        `${start}.metadata.finalizers: duplicate entries for key [="a.b/c"]`,
      );
      await refuses(object({ foo: 1 }), `${start}.metadata.foo: field not declared in schema`);
    });
  });
}

function updateOwnershipSemantics(target: () => Promise<Target>): void {
  describe('a write without apply', () => {
    const fixture = Fixture.use(target, 'together');

    it('owns what it creates, maps and lists themselves included', async () => {
      const metadata = { name: 'created', labels: { a: '1' }, finalizers: ['example.com/a'] };
      const path = `${fixture.configMaps()}?fieldManager=creator`;
      const created = await fixture.post(path, { metadata, data: { a: '1' } });
      assert.deepEqual(ownersOf(created), {
        'Update creator': {
          'f:data': { '.': {}, 'f:a': {} },
          'f:metadata': {
            'f:finalizers': { '.': {}, 'v:"example.com/a"': {} },
            'f:labels': { '.': {}, 'f:a': {} },
          },
        },
      });
      await fixture.patch(fixture.configMap('created'), { metadata: { finalizers: null } });
    });

    it('takes what it changes, and is named by the user agent', async () => {
      const applier = new Applier(fixture);
      await applier.apply('taken', 'one', { data: { a: '1', b: '1' } });
      const patched = await fixture.patch(fixture.configMap('taken'), { data: { a: '2', b: '1' } });
      assert.deepEqual(ownersOf(patched), {
        'Apply one': { 'f:data': { 'f:b': {} } },
        'Update kubeloom-semantics': { 'f:data': { 'f:a': {} } },
      });
    });

    it('becomes a part of ancient changes when eleven managers have updated the object', async () => {
      await fixture.create('crowded', {}, { a: '1' });
      let last: Body | undefined;
      for (let number = 10; number < 23; number++) {
        const path = `${fixture.configMap('crowded')}?fieldManager=m${number}`;
        last = await fixture.patch(path, { data: { [`k${number}`]: '1' } });
      }
      const owners = ownersOf(last ?? { metadata: {} as never, items: [] });
      assert.equal(Object.keys(owners).length, 10);
      const ancient = owners['Update ancient-changes'] as { readonly 'f:data': object };
      assert.ok(Object.keys(ancient['f:data']).length >= 3);
      assert.deepEqual(owners['Update m22'], { 'f:data': { 'f:k22': {} } });
    });

    it('keeps managers that the body leaves out, and forgets all for an empty list', async () => {
      const { metadata } = await fixture.create('kept', {}, { a: '1' });
      const { name } = metadata;
      const put = await fixture.put(fixture.configMap('kept'), { metadata: { name }, data: { a: '1' } });
      assert.deepEqual(ownersOf(put), { 'Update kubeloom-semantics': { 'f:data': { '.': {}, 'f:a': {} } } });
      for (const managedFields of [[], [{}]]) {
        await fixture.client.mergePatch(fixture.configMap('kept'), { metadata: { managedFields } });
        assert.deepEqual(entriesOf(await fixture.get(fixture.configMap('kept'))), []);
      }
    });
  });
}
