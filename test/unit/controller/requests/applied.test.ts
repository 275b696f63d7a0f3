/** Comparison of an object to apply with the object as stored: by ownership with managedFields, else by values. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { seededRandom } from '../../../../src/base/random.ts';
import { applied } from '../../../../src/controller/index.ts';
import { resources } from '../../../../src/index.ts';
import { RecordingServer } from './recording-server.ts';

const MANAGED = {
  manager: 'shop',
  operation: 'Apply',
  apiVersion: 'apps/v1',
  fieldsV1: {
    'f:metadata': { 'f:labels': { 'f:app': {} } },
    'f:spec': {
      'f:replicas': {},
      'f:template': {
        'f:spec': {
          'f:containers': {
            'k:{"name":"app"}': {
              '.': {},
              'f:image': {},
              'f:name': {},
              'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} } },
            },
          },
        },
      },
    },
  },
};

const CURRENT = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    name: 'web',
    namespace: 'default',
    uid: 'u',
    labels: { app: 'web', other: 'yes' },
    managedFields: [{ ...MANAGED, manager: 'kubectl', operation: 'Update' }, MANAGED],
  },
  spec: {
    replicas: 3,
    paused: false,
    template: {
      spec: {
        containers: [
          { name: 'sidecar', image: 's:1' },
          {
            name: 'app',
            image: 'app:1',
            imagePullPolicy: 'Always',
            ports: [{ containerPort: 80, protocol: 'TCP' }],
          },
        ],
        restartPolicy: 'Always',
      },
    },
  },
};

const APP = { name: 'app', image: 'app:1', ports: [{ containerPort: 80 }] };

function desired(spec: object, labels: object = { app: 'web' }, rest: object = {}): object {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'default', labels },
    spec: { replicas: 3, template: { spec: { containers: [APP] } }, ...spec },
    ...rest,
  };
}

describe('applied', () => {
  it('C391 is true when the manager owns exactly these fields with these values', () => {
    assert.equal(applied(desired({}), CURRENT), true);
    assert.equal(applied(desired({}), CURRENT, { fieldManager: 'shop' }), true);
    assert.equal(applied(desired({ paused: undefined }), CURRENT), true);
  });

  it('C391 is false for a changed value, an added field, and a field that is no longer desired', () => {
    const withContainers = (...containers: object[]): object =>
      desired({ template: { spec: { containers } } });
    for (const [what, object] of Object.entries({
      value: desired({ replicas: 4 }),
      added: desired({ paused: false }),
      'added label': desired({}, { app: 'web', other: 'yes' }),
      'dropped label': desired({}, {}),
      'dropped field': desired({ replicas: undefined }),
      image: withContainers({ ...APP, image: 'app:2' }),
      'dropped port': withContainers({ name: 'app', image: 'app:1' }),
      'other protocol': withContainers({ ...APP, ports: [{ containerPort: 80, protocol: 'UDP' }] }),
      'added container': withContainers(APP, { name: 'sidecar', image: 's:1' }),
      status: desired({}, undefined, { status: {} }),
      version: desired({}, undefined, { apiVersion: 'apps/v1beta1' }),
    })) {
      assert.equal(applied(object, CURRENT), false, what);
    }
    assert.equal(applied(desired({}), CURRENT, { fieldManager: 'other' }), false);
    assert.equal(applied(desired({}), CURRENT, { fieldManager: 'kubectl' }), false);
    assert.equal(applied(desired({}), CURRENT, { subresource: 'status' }), false);
    assert.equal(applied(desired({}), undefined), false);
  });

  it('C391 compares the order of items by key, sets by value and owned wholes as one', () => {
    const owned = (fieldsV1: object, spec: object): object => ({
      metadata: { managedFields: [{ ...MANAGED, fieldsV1 }] },
      spec,
    });
    const items = {
      'f:spec': {
        'f:list': {
          'k:{"name":"a"}': { '.': {}, 'f:name': {} },
          'k:{"name":"b"}': { '.': {}, 'f:name': {} },
        },
      },
    };
    const [a, b] = [{ name: 'a' }, { name: 'b' }];
    assert.equal(applied({ spec: { list: [a, b] } }, owned(items, { list: [a, { name: 'x' }, b] })), true);
    assert.equal(applied({ spec: { list: [a, b] } }, owned(items, { list: [b, a] })), false);
    const set = { 'f:spec': { 'f:set': { 'v:"x"': {}, 'v:3': {} } } };
    assert.equal(applied({ spec: { set: ['x', 3] } }, owned(set, { set: ['x', 'y', 3] })), true);
    assert.equal(applied({ spec: { set: ['x', 4] } }, owned(set, { set: ['x', 3] })), false);
    const whole = { 'f:spec': { 'f:selector': {} } };
    assert.equal(applied({ spec: { selector: { a: 1 } } }, owned(whole, { selector: { a: 1 } })), true);
    assert.equal(
      applied({ spec: { selector: { a: 1 } } }, owned(whole, { selector: { a: 1, b: 2 } })),
      false,
    );
  });

  it('C391 compares values alone when the object has no managedFields', () => {
    const { managedFields: _managed, ...metadata } = CURRENT.metadata;
    const current = { ...CURRENT, metadata };
    const containers = (...images: string[]): object => ({
      template: { spec: { containers: images.map((image) => ({ image })) } },
    });
    assert.equal(applied(desired(containers('s:1', 'app:1')), current), true);
    assert.equal(applied(desired(containers('app:1')), current), false);
    assert.equal(applied(desired({ replicas: 4 }), current), false);
    assert.equal(applied({ metadata: { name: 'web' } }, current), true);
  });

  it('C391 compares values as their JSON, at any depth: -0 is 0, a Date is a text, undefined is absent', () => {
    const levels = 9000;
    const deep = (): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);
    const spec = { replicas: -0, at: new Date(0), optional: undefined, deep: deep() };
    const stored = { replicas: 0, at: '1970-01-01T00:00:00.000Z', deep: deep() };
    const fieldsV1 = { 'f:spec': { 'f:replicas': {}, 'f:at': {}, 'f:deep': {} } };
    const metadata = { managedFields: [{ ...MANAGED, fieldsV1 }] };
    for (const current of [{ spec: stored }, { metadata, spec: stored }]) {
      assert.equal(applied({ spec }, current), true);
      assert.equal(applied({ spec: { ...spec, replicas: 1 } }, current), false);
      assert.equal(applied({ spec: { ...spec, at: new Date(1) } }, current), false);
    }
  });

  it('C391 refuses entries, other values and unknown options with a code', () => {
    for (const wrong of [null, 7, 'x', [], undefined]) {
      assert.throws(() => applied(wrong as never, CURRENT), { code: 'ERR_KUBELOOM_OPTION' });
      if (wrong !== undefined)
        assert.throws(() => applied({}, wrong as never), { code: 'ERR_KUBELOOM_OPTION' });
    }
    const entry = { [Symbol.for('kubeloom.Entry')]: true };
    assert.throws(() => applied({}, entry), { code: 'ERR_KUBELOOM_OPTION', message: /pass entry\.object/ });
    for (const options of [{ fieldManager: 7 }, { subresource: null }, { manager: 'a' }, null]) {
      assert.throws(() => applied({}, CURRENT, options as never), { code: 'ERR_KUBELOOM_OPTION' });
    }
  });

  it('C391 agrees with a model of ownership for generated objects', () => {
    for (let seed = 1; seed <= 300; seed++) {
      const random = seededRandom(seed);
      const before = tree(random, 3);
      const after = random() < 0.5 ? before : tree(random, 3);
      const others = tree(random, 2, 'other');
      const current = {
        metadata: { managedFields: [{ ...MANAGED, fieldsV1: fieldsOf({ spec: before }) }] },
        spec: { ...before, ...others },
      };
      const isSame = JSON.stringify(sorted(before)) === JSON.stringify(sorted(after));
      assert.equal(applied({ spec: after }, current), isSame, `seed ${seed}`);
    }
  });
});

describe('applied, after an apply whose answer has other values', () => {
  const { configMaps } = resources.core.v1;
  const SENT = {
    metadata: { name: 'a', namespace: 'default', annotations: {} },
    data: { cpu: '0.1', list: [] },
  };
  const fieldsV1 = { 'f:data': { 'f:cpu': {}, 'f:list': {} }, 'f:metadata': { 'f:annotations': {} } };
  const ENTRY = { manager: 'shop', operation: 'Apply', apiVersion: 'v1', fieldsV1 };

  /** Returns the object as the server of this suite stores it: a number as a quantity, and no empty values. */
  function stored(uid: string, resourceVersion: string, data: object = {}, entry: object = ENTRY): object {
    const metadata = { name: 'a', namespace: 'default', uid, resourceVersion, managedFields: [entry] };
    return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { cpu: '100m', ...data } };
  }

  const apply = async (uid: string, options: object = {}): Promise<void> => {
    await using server = await RecordingServer.start(() => ({ body: stored(uid, '5') }));
    await server.client({ fieldManager: 'shop' }).apply(configMaps, SENT as never, options);
  };

  it('C471 is true while the fields have the values and the owner of the answer', async () => {
    assert.equal(applied(SENT, stored('one', '5')), false);
    await apply('one');
    const { managedFields: _managed, ...metadata } = (stored('one', '6') as typeof CURRENT).metadata;
    for (const [what, current] of Object.entries({
      answer: stored('one', '5'),
      'a field of another manager': stored('one', '6', { other: '1' }),
      'no managedFields': { ...stored('one', '6'), metadata },
    })) {
      assert.equal(applied(SENT, current), true, what);
      assert.equal(applied(SENT, current, { fieldManager: 'shop' }), true, what);
      assert.equal(applied(SENT, current, { fieldManager: 'other' }), false, what);
      assert.equal(applied(SENT, current, { subresource: 'status' }), false, what);
      assert.equal(
        applied({ data: { list: [], cpu: '0.1' }, metadata: { annotations: {} } }, current),
        true,
        what,
      );
      assert.equal(applied({ ...SENT, data: { ...SENT.data, cpu: '0.2' } }, current), false, what);
    }
  });

  it('C471 is false when a value or the owner of a field has changed, and for an object of another uid', async () => {
    await apply('two');
    const given = { ...ENTRY, fieldsV1: { 'f:data': { 'f:list': {} } } };
    for (const [what, current] of Object.entries({
      value: stored('two', '6', { cpu: '200m' }),
      'a value that the answer lacks': stored('two', '6', { list: [1] }),
      owner: stored('two', '6', {}, given),
      'owner at this version': stored('two', '5', {}, given),
      uid: stored('three', '5'),
    }))
      assert.equal(applied(SENT, current), false, what);
  });

  it('C471 remembers the last apply of each manager and subresource, and no dry run', async () => {
    await apply('four', { dryRun: true });
    assert.equal(applied(SENT, stored('four', '5')), false);
    await apply('four');
    await apply('four', { fieldManager: 'other' });
    await apply('four', { subresource: 'status' });
    assert.equal(applied(SENT, stored('four', '6'), { fieldManager: 'shop' }), true);
    const other = stored('four', '6', {}, { ...ENTRY, manager: 'other' });
    assert.equal(applied(SENT, other, { fieldManager: 'other' }), false, 'the answer had no such owner');
  });
});

type Tree = { readonly [name: string]: Tree | number };

/** Returns a map with at least one member, at every level. */
function tree(random: () => number, depth: number, prefix = 'm'): Tree {
  const names = ['a', 'b', 'c'].slice(0, 1 + Math.floor(random() * 3));
  const isLeaf = (): boolean => depth === 1 || random() < 0.5;
  return Object.fromEntries(
    names.map((name) => [`${prefix}${name}`, isLeaf() ? Math.floor(random() * 2) : tree(random, depth - 1)]),
  );
}

function fieldsOf(value: Tree | number): object {
  if (typeof value === 'number') return {};
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [`f:${name}`, fieldsOf(member)]));
}

function sorted(value: Tree | number): unknown {
  if (typeof value === 'number') return value;
  return Object.entries(value)
    .map(([name, member]) => [name, sorted(member)])
    .toSorted(([a], [b]) => String(a).localeCompare(String(b)));
}
