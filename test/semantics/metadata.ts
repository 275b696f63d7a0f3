/** Metadata that every apiserver refuses, repairs or warns about. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Answer } from './client.ts';
import { Definitions, causes, version } from './definitions.ts';
import { Fixture, ok, refused } from './fixture.ts';
import type { Target } from './target.ts';

const LONG = 'n'.repeat(64);
const KEY =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

function owner(number: number, rest: object = {}): object {
  const uid = `00000000-0000-0000-0000-00000000000${number}`;
  return { apiVersion: 'v1', kind: 'ConfigMap', name: `o${number}`, uid, ...rest };
}

/** Metadata of a ConfigMap, and the causes of its refusal. */
const REFUSED: Readonly<Record<string, readonly [metadata: object, ...causes: string[]]>> = {
  'a label value of 64 characters': [
    { labels: { app: LONG } },
    `FieldValueInvalid metadata.labels: Invalid value: "${LONG}": must be no more than 63 bytes`,
  ],
  'a label value with a slash': [
    { labels: { app: 'a/b' } },
    `FieldValueInvalid metadata.labels: Invalid value: "a/b": ${VALUE}`,
  ],
  'a label key with a space': [
    { labels: { 'my app': 'x' } },
    `FieldValueInvalid metadata.labels: Invalid value: "my app": ${KEY}`,
  ],
  'a label key with an empty prefix': [
    { labels: { '/x': '' } },
    'FieldValueInvalid metadata.labels: Invalid value: "/x": prefix part must be non-empty',
  ],
  'an annotation key with a space': [
    { annotations: { 'my note': 'x', 'UPPER.example.com/x': 'taken' } },
    `FieldValueInvalid metadata.annotations: Invalid value: "my note": ${KEY}`,
  ],
  'annotations of more than 256 KiB': [
    { annotations: { big: 'x'.repeat(262_142) } },
    'FieldValueTooLong metadata.annotations: Too long: may not be more than 262144 bytes',
  ],
  'an owner without fields': [
    { ownerReferences: [{}] },
    'FieldValueInvalid metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty',
    'FieldValueInvalid metadata.ownerReferences.kind: Invalid value: "": must not be empty',
    'FieldValueInvalid metadata.ownerReferences.name: Invalid value: "": must not be empty',
    'FieldValueInvalid metadata.ownerReferences.uid: Invalid value: "": must not be empty',
  ],
  'an Event as owner': [
    { ownerReferences: [owner(1, { kind: 'Event' })] },
    'FieldValueInvalid metadata.ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event","name":"o1","uid":"00000000-0000-0000-0000-000000000001"}: /v1, Kind=Event is disallowed from being an owner',
  ],
  'a finalizer that is no name': [
    { finalizers: ['not a name'] },
    `FieldValueInvalid metadata.finalizers: Invalid value: "not a name": ${KEY}`,
    'FieldValueInvalid metadata.finalizers[0]: Invalid value: "not a name": name is neither a standard finalizer name nor is it fully qualified',
  ],
  'both finalizers of a policy': [
    { finalizers: ['orphan', 'foregroundDeletion'] },
    'FieldValueInvalid metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set',
  ],
  'a negative generation': [
    { generation: -1 },
    'FieldValueInvalid metadata.generation: Invalid value: -1: must be greater than or equal to 0',
  ],
};

/** Values of a wrong type, and the end of the message of the 400. */
const MISTYPED: ReadonlyArray<readonly [metadata: unknown, why: string]> = [
  [
    { labels: { a: 1 } },
    'cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string',
  ],
  [
    { labels: ['a'] },
    'cannot unmarshal array into Go struct field ObjectMeta.metadata.labels of type map[string]string',
  ],
  ['x', 'cannot unmarshal string into Go struct field ConfigMap.metadata of type v1.ObjectMeta'],
  [{ name: 5 }, 'cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string'],
  [
    { ownerReferences: [owner(1, { controller: 'yes' })] },
    'cannot unmarshal string into Go struct field OwnerReference.metadata.ownerReferences.controller of type bool',
  ],
  [
    { annotations: { a: true } },
    'cannot unmarshal bool into Go struct field ObjectMeta.metadata.annotations of type string',
  ],
];

export function metadataSemantics(target: () => Promise<Target>): void {
  describe('metadata', () => {
    const fixture = Fixture.use(target, 'together');
    const definitions = new Definitions(fixture);
    before(() => definitions.establish('gadgets', 'Gadget', [version('v1', { storage: true })]));
    const post = (metadata: unknown): Promise<Answer> =>
      fixture.client.post(fixture.configMaps(), { metadata });

    for (const [what, [metadata, ...wanted]] of Object.entries(REFUSED)) {
      it(`with ${what} is 422`, async () => {
        const answer = await post({ name: 'refused', ...metadata });
        assert.equal(answer.status, 422, answer.text);
        assert.deepEqual(causes(answer), wanted.toSorted());
      });
    }

    it('with two controllers is 422', async () => {
      const owners = [owner(1, { controller: true }), owner(2, { controller: true })];
      assert.match(
        causes(await post({ name: 'refused', ownerReferences: owners })).join(),
        /Only one reference can have Controller set to true\. Found "true" in references for ConfigMap\/o1 and ConfigMap\/o2$/,
      );
    });

    it('with a value of a wrong type is 400', async () => {
      for (const [metadata, why] of MISTYPED) {
        const { status, body } = await post(metadata);
        assert.equal(status, 400);
        const start = 'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: ';
        assert.equal(body.message, `${start}${why}`);
      }
    });

    it('follows the same rules in an update, which changes no time of a deletion', async () => {
      await fixture.create('updated');
      const put = (metadata: object): Promise<Answer> =>
        fixture.client.put(fixture.configMap('updated'), { metadata: { name: 'updated', ...metadata } });
      for (const metadata of [
        { labels: { 'a b': '' } },
        { finalizers: ['plain'] },
        { ownerReferences: [{}] },
        { deletionTimestamp: '2020-01-01T00:00:00Z' },
      ]) {
        assert.equal((await put(metadata)).status, 422, JSON.stringify(metadata));
      }
      assert.equal(ok(await put({ generateName: 'other-' })).metadata.generateName, 'other-');
    });

    it('loses unknown fields, times of a deletion and duplicate owners, with a warning', async () => {
      const answer = await post({
        name: 'repaired',
        unknown: 1,
        creationTimestamp: null,
        labels: null,
        deletionTimestamp: '2020-01-01T00:00:00Z',
        deletionGracePeriodSeconds: 5,
        ownerReferences: [owner(1), owner(1)],
      });
      const metadata = ok(answer).metadata as unknown as Record<string, unknown>;
      for (const field of ['unknown', 'labels', 'deletionTimestamp', 'deletionGracePeriodSeconds'])
        assert.equal(metadata[field], undefined, field);
      assert.match(String(metadata['creationTimestamp']), /^20/);
      assert.deepEqual(metadata['ownerReferences'], [owner(1)]);
      const warnings = String(answer.headers['warning']);
      assert.match(warnings, /299 - "unknown field \\"metadata\.unknown\\""/);
      assert.match(warnings, /duplicate UID\(s\) observed: 00000000-0000-0000-0000-000000000001"/);
    });

    it('of a custom resource may have a finalizer without a domain, with a warning', async () => {
      const object = definitions.object('Gadget', { metadata: { name: 'plain', finalizers: ['plain'] } });
      const answer = await fixture.client.post(definitions.objects('gadgets'), object);
      assert.equal(answer.status, 201);
      assert.match(
        String(answer.headers['warning']),
        /"metadata\.finalizers: \\"plain\\": prefer a domain-qualified finalizer name/,
      );
      await fixture.client.mergePatch(`${definitions.objects('gadgets')}/plain`, {
        metadata: { finalizers: null },
      });
      await definitions.removeAll('gadgets');
    });
  });
  nameSemantics(target);
}

function nameSemantics(target: () => Promise<Target>): void {
  describe('a name', () => {
    const fixture = Fixture.use(target, 'together');
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const spec = { selector: { matchLabels: { a: 'b' } }, serviceName: 'x', template };

    it('of a Namespace, a Service and a StatefulSet is one label of a host', async () => {
      const services = `/api/v1/namespaces/${fixture.namespace}/services`;
      const sets = `/apis/apps/v1/namespaces/${fixture.namespace}/statefulsets`;
      for (const [path, body] of [
        ['/api/v1/namespaces', {}],
        [services, { spec: { ports: [{ port: 80 }] } }],
        [sets, { spec }],
      ] as const) {
        const dotted = await fixture.client.post(path, { ...body, metadata: { name: 'a.b' } });
        assert.deepEqual(causes(dotted), [
          'FieldValueInvalid metadata.name: Invalid value: "a.b": must not contain dots',
        ]);
      }
      const long = await fixture.client.post(services, {
        metadata: { name: LONG },
        spec: { ports: [{ port: 80 }] },
      });
      assert.deepEqual(causes(long), [
        `FieldValueInvalid metadata.name: Invalid value: "${LONG}": must be no more than 63 characters`,
      ]);
    });

    it('of a Role fits into a URL, and has no other rule', async () => {
      const roles = `/apis/rbac.authorization.k8s.io/v1/namespaces/${fixture.namespace}/roles`;
      assert.equal((await fixture.client.post(roles, { metadata: { name: 'A:b' } })).status, 201);
      const answer = await fixture.client.post(roles, { metadata: { name: 'a/b' } });
      assert.deepEqual(causes(answer), [
        'FieldValueInvalid metadata.name: Invalid value: "a/b": may not contain \'/\'',
      ]);
    });

    it('that is generated is valid, or the prefix is refused', async () => {
      const answer = await fixture.client.post(fixture.configMaps(), { metadata: { generateName: 'a.' } });
      const message = /^ConfigMap "a\.[a-z0-9]{5}" is invalid: metadata\.generateName: Invalid value: "a\."/;
      refused(answer, 422, message);
    });
  });
}
