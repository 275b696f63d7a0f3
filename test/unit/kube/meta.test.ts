/** Tests of accessors of objects and lists, and of the items of a list. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { accessor, eachListItem, extractList, isListType, listAccessor } from '../../../src/kube/meta.ts';
import { tombstone } from '../../../src/kube/tombstone.ts';
import { FakeEntry } from '../client-go/cache/objects.ts';

const OWNER = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'rs-1', controller: true };

/** Metadata in which no field has its zero value. */
const FULL = {
  name: 'web-0',
  namespace: 'default',
  generateName: 'web-',
  uid: 'uid-1',
  resourceVersion: '42',
  generation: 3,
  labels: { app: 'web' },
  annotations: { note: 'kept' },
  ownerReferences: [OWNER],
  finalizers: ['example.com/one'],
  managedFields: [{ manager: 'kubectl' }],
  creationTimestamp: '2026-01-01T00:00:00Z',
  deletionTimestamp: '2026-01-02T00:00:00Z',
  deletionGracePeriodSeconds: 30,
};
type Field = keyof typeof FULL;
const FIELDS = Object.keys(FULL) as Field[];

const ZERO = {
  name: '',
  namespace: '',
  generateName: '',
  uid: '',
  resourceVersion: '',
  generation: 0,
  labels: {},
  annotations: {},
  ownerReferences: [],
  finalizers: [],
  managedFields: [],
  creationTimestamp: undefined,
  deletionTimestamp: undefined,
  deletionGracePeriodSeconds: undefined,
};

function fieldsOf(view: object): object {
  const fields = view as Record<string, unknown>;
  return Object.fromEntries(FIELDS.map((field) => [field, fields[field]]));
}

describe('an accessor of an object', () => {
  test('reads every field, and its zero value if it is absent', () => {
    assert.deepEqual(fieldsOf(accessor({ metadata: FULL })), FULL);
    assert.deepEqual(fieldsOf(accessor({ metadata: {} })), ZERO);
  });

  test('writes every field into the object', () => {
    const object = { metadata: {} };
    Object.assign(accessor(object), FULL);
    assert.deepEqual(object, { metadata: FULL });
  });

  test('removes a field that is set to its zero value', () => {
    const object = { metadata: { ...FULL, other: 'stays' } };
    Object.assign(accessor(object), ZERO);
    assert.deepEqual(object, { metadata: { other: 'stays' } });
  });

  test('keeps a grace period of 0 seconds, which is not an absent one', () => {
    const object = { metadata: { deletionGracePeriodSeconds: 30 } };
    accessor(object).deletionGracePeriodSeconds = 0;
    assert.deepEqual(object, { metadata: { deletionGracePeriodSeconds: 0 } });
    assert.equal(accessor(object).deletionGracePeriodSeconds, 0);
  });

  test('keeps a timestamp that is a Date, as in models', () => {
    const object = { metadata: {} };
    const time = new Date(0);
    accessor(object).deletionTimestamp = time;
    assert.equal(accessor(object).deletionTimestamp, time);
  });

  test('returns frozen zero values', () => {
    const { labels, finalizers } = accessor({ metadata: {} });
    assert.throws(() => Object.assign(labels, { app: 'web' }), TypeError);
    assert.throws(() => (finalizers as string[]).push('x'), TypeError);
  });

  test('reads an entry of an informer, and decodes metadata only for fields that the entry lacks', () => {
    const entry = new FakeEntry('default', 'web-0');
    const view = accessor(entry);
    assert.deepEqual(
      [view.name, view.namespace, view.uid, view.resourceVersion, view.generation, view.labels],
      ['web-0', 'default', 'uid-1', '42', 3, { app: 'web' }],
    );
    assert.equal(view.deletionTimestamp, undefined);
    assert.equal(entry.metadataReads, 0);
    assert.deepEqual([view.annotations, view.finalizers], [{ note: 'kept' }, []]);
    assert.ok(entry.metadataReads > 0);
  });

  test('rejects writes to an entry', () => {
    const view = accessor(new FakeEntry('default', 'web-0'));
    for (const field of FIELDS) {
      assert.throws(() => Object.assign(view, { [field]: FULL[field] }), { code: 'ERR_KUBELOOM_READ_ONLY' });
      assert.throws(() => Object.assign(view, { [field]: undefined }), { code: 'ERR_KUBELOOM_READ_ONLY' });
    }
  });

  test('rejects a value that is not an API object', () => {
    const dead = tombstone('web/a', { metadata: FULL });
    for (const object of [undefined, null, 'text', {}, { metadata: null }, { name: 'a' }, dead]) {
      assert.throws(() => accessor(object), { code: 'ERR_KUBELOOM_OPTION' });
    }
  });
});

describe('an accessor of a list', () => {
  test('reads and writes its metadata', () => {
    const list = { metadata: { resourceVersion: '7', continue: 'more', remainingItemCount: 5 }, items: [] };
    const view = listAccessor(list);
    assert.deepEqual([view.resourceVersion, view.continue, view.remainingItemCount], ['7', 'more', 5]);
    view.resourceVersion = '8';
    view.continue = '';
    view.remainingItemCount = 0;
    assert.deepEqual(list.metadata, { resourceVersion: '8', remainingItemCount: 0 });
    view.remainingItemCount = undefined;
    assert.deepEqual(list.metadata, { resourceVersion: '8' });
  });

  test('adds metadata to a list without them on the first write', () => {
    const list = { items: [] };
    const view = listAccessor(list);
    assert.deepEqual([view.resourceVersion, view.continue, view.remainingItemCount], ['', '', undefined]);
    view.continue = '';
    assert.deepEqual(list, { items: [] });
    view.resourceVersion = '8';
    view.continue = 'more';
    assert.deepEqual(list, { items: [], metadata: { resourceVersion: '8', continue: 'more' } });
  });

  test('rejects a value that is not a list', () => {
    for (const list of [undefined, 'text', {}, { items: 'text' }]) {
      assert.throws(() => listAccessor(list), { code: 'ERR_KUBELOOM_OPTION' });
    }
  });
});

describe('the items of a list', () => {
  test('C102 get the kind and apiVersion that the list implies, in copies', () => {
    const bare = { metadata: { name: 'a' } };
    const list = { kind: 'PodList', apiVersion: 'v1', items: [bare] };
    const items = extractList(list);
    assert.equal(JSON.stringify(items), '[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}]');
    assert.deepEqual(Object.keys(bare), ['metadata']);
    items.length = 0;
    assert.equal(list.items.length, 1);
  });

  test('C102 keep their own values, field by field', () => {
    const whole = { kind: 'Other', apiVersion: 'x/v2' };
    const partial = [{ kind: 'Other' }, { apiVersion: 'x/v2' }, { kind: undefined }];
    const items = extractList({ kind: 'PodList', apiVersion: 'v1', items: [whole, ...partial] });
    assert.equal(items[0], whole);
    assert.deepEqual(items.slice(1), [
      { kind: 'Other', apiVersion: 'v1' },
      { kind: 'Pod', apiVersion: 'x/v2' },
      { kind: 'Pod', apiVersion: 'v1' },
    ]);
    assert.deepEqual(extractList({ kind: 'PodList', items: [{}] }), [{ kind: 'Pod' }]);
  });

  test('get nothing when the list has no kind', () => {
    const item = { metadata: { name: 'a' } };
    for (const kind of ['List', 'Pods', undefined]) {
      assert.equal(extractList({ kind, apiVersion: 'v1', items: [item] })[0], item);
    }
    const entry = new FakeEntry('a', 'b');
    assert.equal(extractList({ kind: 'PodList', items: [entry] })[0], entry);
  });

  test('stay instances of their class', () => {
    class Model {
      readonly name = 'a';
    }
    const [item] = extractList({ kind: 'PodList', apiVersion: 'v1', items: [new Model()] });
    assert.ok(item instanceof Model);
    assert.equal(item.name, 'a');
  });

  test('can be visited one by one; an error of the visitor ends it', () => {
    const seen: unknown[] = [];
    const list = { kind: 'PodList', apiVersion: 'v1', items: [{ n: 1 }, { n: 2 }, { n: 3 }] };
    const visit = (item: { n: number }): void => {
      seen.push(item);
      if (item.n === 2) throw new Error('enough');
    };
    assert.throws(() => eachListItem(list, visit), /enough/);
    assert.deepEqual(seen, [
      { apiVersion: 'v1', kind: 'Pod', n: 1 },
      { apiVersion: 'v1', kind: 'Pod', n: 2 },
    ]);
  });

  test('of a value that is not a list, or items that are not objects, are an error', () => {
    const noList: unknown = { kind: 'Pod' };
    assert.throws(() => extractList(noList), { code: 'ERR_KUBELOOM_OPTION' });
    const holes: unknown = { items: [{}, null] };
    assert.throws(() => extractList(holes), { code: 'ERR_KUBELOOM_OPTION', message: /items\[1\]/ });
    assert.deepEqual(
      [isListType({ items: [] }), isListType({ items: {} }), isListType(null)],
      [true, false, false],
    );
  });
});
