/** Tests of `toModel` and `fromModel` with single objects, and of their errors. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as k8s from '@kubernetes/client-node';
import type { V1Lease, V1NetworkPolicy, V1Pod } from '@kubernetes/client-node';
import { createModelConverter } from '../../../../src/index.ts';
import { fromModel, toModel } from '../../../../src/client-node/index.ts';
import type { Wire } from '../../../../src/index.ts';

const POLICY: Wire<V1NetworkPolicy> = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name: 'web', namespace: 'shop', creationTimestamp: '2024-05-06T07:08:09Z' },
  spec: { podSelector: {}, ingress: [{ from: [{ podSelector: { matchLabels: { from: 'app' } } }] }] },
};
const LEASE: Wire<V1Lease> = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: 'leader' },
  spec: { renewTime: '2024-05-06T07:08:09.123456Z', acquireTime: '2024-05-06T07:08:09.000000Z' },
};
const POD: Wire<V1Pod> = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a' },
  spec: { containers: [{ name: 'c' }] },
};

function coded(code: string, message: RegExp) {
  return { name: 'KubeloomError', code, message };
}

/** Returns an object with fields that the types do not allow. */
function withFields(base: object, fields: object): Wire<V1Pod> {
  return { ...base, ...fields };
}

describe('toModel', () => {
  test("returns instances of the models, with the models' own field names", () => {
    const policy = toModel<V1NetworkPolicy>(POLICY);
    assert.ok(policy instanceof k8s.V1NetworkPolicy);
    assert.ok(policy.metadata instanceof k8s.V1ObjectMeta);
    assert.deepEqual(policy.spec?.ingress?.[0]?._from?.[0]?.podSelector?.matchLabels, { from: 'app' });
    assert.ok(!('from' in (policy.spec?.ingress?.[0] ?? {})));
  });

  test('accepts an entry, or any other value that holds the object', () => {
    const entry: { readonly object: Wire<V1NetworkPolicy> } = { object: POLICY };
    assert.deepEqual(toModel<V1NetworkPolicy>(entry), toModel<V1NetworkPolicy>(POLICY));
  });

  test('C168 returns times that are dates, and keep their text until they are set', () => {
    const created = toModel<V1NetworkPolicy>(POLICY).metadata?.creationTimestamp;
    assert.ok(created instanceof Date);
    assert.equal(created.getTime(), Date.UTC(2024, 4, 6, 7, 8, 9));
    assert.equal(created.toISOString(), '2024-05-06T07:08:09Z');
    created.setUTCSeconds(10);
    assert.equal(created.toISOString(), '2024-05-06T07:08:10.000Z');
    assert.equal(JSON.stringify(created), '"2024-05-06T07:08:10.000Z"');
  });

  test("returns times with microseconds as client-node's class for them", () => {
    const renewed = toModel<V1Lease>(LEASE).spec?.renewTime;
    assert.ok(renewed instanceof k8s.V1MicroTime);
    assert.equal(JSON.stringify(renewed), '"2024-05-06T07:08:09.123456Z"');
    renewed.setUTCSeconds(10);
    assert.equal(JSON.stringify(renewed), '"2024-05-06T07:08:10.123000Z"');
  });

  test('keeps nulls, which Go writes for empty lists and maps, and times that are not valid dates', () => {
    const metadata = { name: 'a', creationTimestamp: null, deletionTimestamp: 'tomorrow', labels: null };
    const pod = toModel<V1Pod>(withFields(POD, { metadata, spec: { containers: null }, status: null }));
    assert.equal(pod.metadata?.creationTimestamp, null);
    assert.equal(pod.metadata?.labels, null);
    assert.equal(pod.spec?.containers, null);
    assert.equal(pod.status, null);
    assert.equal(JSON.stringify(pod.metadata?.deletionTimestamp), '"tomorrow"');
  });

  test("C169 names every field that would be lost, and loses it with onUnknownField: 'ignore'", () => {
    const newer = withFields(POD, {
      spec: { containers: [{ name: 'c' }, { name: 'd', colour: 'red' }], shape: { round: true } },
    });
    const lost = /V1Pod .* spec\.containers\[1\]\.colour, spec\.shape: /;
    assert.throws(() => toModel<V1Pod>(newer), coded('ERR_KUBELOOM_UNKNOWN_FIELD', lost));
    const pod = toModel<V1Pod>(newer, { onUnknownField: 'ignore' });
    assert.deepEqual(Object.keys(pod.spec?.containers[1] ?? {}), ['name']);
  });

  test('C169 also names fields that client-node cannot copy', () => {
    const data = JSON.parse('{"__proto__":"x","ok":"y"}') as Record<string, string>;
    const map = { apiVersion: 'v1', kind: 'ConfigMap', data };
    assert.throws(() => toModel(map), coded('ERR_KUBELOOM_UNKNOWN_FIELD', /data\.__proto__/));
  });

  test('names the place where an object contradicts the model', () => {
    const wrong = withFields(POD, { spec: { containers: { name: 'c' } } });
    const list = /a list at spec\.containers, but the object has object/;
    assert.throws(() => toModel<V1Pod>(wrong), coded('ERR_KUBELOOM_NO_MODEL', list));
    const labels = withFields(POD, { metadata: { labels: ['a'] } });
    const object = /an object at metadata\.labels, but the object has a list/;
    assert.throws(() => toModel<V1Pod>(labels), coded('ERR_KUBELOOM_NO_MODEL', object));
  });

  test('does not treat a custom resource as the built-in kind of its name', () => {
    const own = withFields(POD, { apiVersion: 'example.com/v1' });
    assert.throws(() => toModel<V1Pod>(own), coded('ERR_KUBELOOM_NO_MODEL', /example\.com\/v1 Pod/));
  });

  test('does not treat a part of an object as a kind', () => {
    const part = withFields(POD, { kind: 'PodSpec' });
    assert.throws(() => toModel<V1Pod>(part), coded('ERR_KUBELOOM_NO_MODEL', /v1 PodSpec/));
  });

  test('needs kind and apiVersion, an object, and valid options', () => {
    const { kind: _kind, ...nameless } = POD;
    assert.throws(() => toModel<V1Pod>(nameless), coded('ERR_KUBELOOM_NO_MODEL', /kind and apiVersion/));
    assert.throws(() => toModel(undefined), coded('ERR_KUBELOOM_OPTION', /got undefined/));
    const options = { onUnknownField: 'warn' } as never;
    assert.throws(() => toModel<V1Pod>(POD, options), coded('ERR_KUBELOOM_OPTION', /got "warn"/));
  });
});

describe('fromModel', () => {
  test('writes times as Kubernetes does', () => {
    const lease = new k8s.V1Lease();
    lease.apiVersion = 'coordination.k8s.io/v1';
    lease.kind = 'Lease';
    lease.metadata = { creationTimestamp: new Date(Date.UTC(2024, 4, 6, 7, 8, 9, 250)) };
    lease.spec = {
      renewTime: new k8s.V1MicroTime('2024-05-06T07:08:09.250Z'),
      acquireTime: new Date('2024-05-06T07:08:09.250Z'),
    };
    assert.deepEqual(fromModel(lease), {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { creationTimestamp: '2024-05-06T07:08:09Z' },
      spec: { renewTime: '2024-05-06T07:08:09.250000Z', acquireTime: '2024-05-06T07:08:09.250000Z' },
    });
  });

  test('returns the input of toModel, also with plain objects in the place of models', () => {
    const { metadata, spec } = toModel<V1NetworkPolicy>(POLICY);
    const plain = { apiVersion: POLICY.apiVersion, kind: POLICY.kind, metadata, spec, status: undefined };
    assert.deepEqual(fromModel(plain), POLICY);
    const unusual = withFields(POD, { metadata: { creationTimestamp: '2024-05-06T09:08:09.250+02:00' } });
    assert.deepEqual(fromModel(toModel<V1Pod>(unusual)), unusual);
    const fraction = withFields(POD, { metadata: { creationTimestamp: '2024-05-06T07:08:09.250Z' } });
    assert.deepEqual(fromModel(toModel<V1Pod>(fraction)), fraction);
  });

  test('rejects the names of the JSON form', () => {
    const mixed = { ...POLICY, spec: { podSelector: {}, ingress: [{ from: [] }] } };
    assert.throws(() => fromModel(mixed), coded('ERR_KUBELOOM_UNKNOWN_FIELD', /spec\.ingress\[0\]\.from:/));
  });
});

describe('a converter', () => {
  test('is created from client-node only', () => {
    assert.throws(() => createModelConverter({}), coded('ERR_KUBELOOM_OPTION', /import \* as k8s/));
  });

  test('is typed: JSON goes in, the model comes out', () => {
    const policy: V1NetworkPolicy = toModel<V1NetworkPolicy>(POLICY);
    const wire: Wire<V1NetworkPolicy> = fromModel(policy);
    const wrong = (): V1Pod[] => [
      // @ts-expect-error -- a model is not what the server sends
      toModel<V1Pod>(toModel<V1Pod>(POD)),
      // @ts-expect-error -- of another kind
      toModel<V1Pod>(POLICY),
    ];
    assert.deepEqual([wire, typeof wrong], [POLICY, 'function']);
  });
});
