/** From a shard's record to an entry: keys, versions, extracted fields, flags, and the plain transform. */
import { beforeEach, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { DeltaKind } from '../../../../src/shared/record/delta.ts';
import { NotificationFlag } from '../../../../src/shared/record/notification.ts';
import { EntryFlag } from '../../../../src/replica/store/entry.ts';
import { at, borrowed, wireObject } from '../store/objects.ts';
import type { ObjectSpec, WireObject } from '../store/objects.ts';
import { FakeShards } from './fake-shards.ts';
import type { ObjectOptions } from './fake-shards.ts';
import { MergingInformer } from './merging-informer.ts';
import type { MergingOptions } from './merging-informer.ts';

class Scene extends MergingInformer {
  readonly shards: FakeShards = new FakeShards();
  #epoch = 0;

  constructor(options: MergingOptions = {}) {
    super(options);
    this.shards.merger.attach(1, this.merge);
  }

  put(spec: ObjectSpec, options: ObjectOptions = {}): void {
    this.shards.sendObject(spec, options);
    this.shards.drain();
  }

  metadata(key: string): WireObject['metadata'] {
    const entry = this.entry(key);
    return borrowed(entry, '', () => entry.metadata as WireObject['metadata']);
  }

  relist(options: ObjectOptions, ...specs: ObjectSpec[]): void {
    const epoch = ++this.#epoch;
    this.shards.sendControl(DeltaKind.ReplaceBegin, epoch);
    for (const spec of specs) this.shards.sendObject(spec, { kind: DeltaKind.Replaced, ...options });
    this.shards.sendControl(DeltaKind.ReplaceEnd, epoch, '1000');
    this.shards.drain();
  }
}

/** Returns the JSON of an object with an annotation, which is in no extracted field. */
function annotated(version: number, note: string): Buffer {
  const metadata = { ...wireObject(at('a', version)).metadata, annotations: { note } };
  return Buffer.from(JSON.stringify({ metadata }));
}

describe('keys and versions', () => {
  test('keys work in every alphabet, with and without a namespace, with the name in the first record only', () => {
    const scene = new Scene();
    const namespaced = { namespace: 'größe', name: '表-\u{1F9F5}', version: 1 };
    scene.put(namespaced);
    scene.put({ ...namespaced, version: 2 });
    scene.put(at('cluster', 3));
    const entry = scene.entry('größe/表-\u{1F9F5}');
    assert.deepEqual([entry.namespace, entry.name, entry.version], ['größe', '表-\u{1F9F5}', 2]);
    assert.deepEqual(scene.object(entry.key), wireObject({ ...namespaced, version: 2 }));
    assert.deepEqual([scene.entry('cluster').namespace, scene.entry('cluster').name], ['', 'cluster']);
  });

  test('versions above 32 bits stay exact, and versions that are not numbers stay text', () => {
    const scene = new Scene();
    const numbers = [0, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1];
    for (const version of [...numbers, '9007199254740993', '0012', 'opaque-7']) {
      scene.put(at('a', version));
      assert.equal(scene.entry('a').version, version);
      assert.equal(scene.indexer.lastStoreSyncResourceVersion(), String(version));
    }
  });

  test('C7 an event that repeats a version is delivered: only lists are compared with the cache', () => {
    const scene = new Scene();
    scene.put(at('a', 1), { kind: DeltaKind.Added });
    scene.put(at('a', 1), { kind: DeltaKind.Added });
    assert.deepEqual(scene.takeLog(), ['add a@1', 'update a@1>1']);
  });

  test('C14 a deleted key is new when it returns', () => {
    const scene = new Scene();
    scene.put(at('a', 1));
    scene.put(at('a', 2), { kind: DeltaKind.Deleted });
    scene.put(at('b', 3));
    scene.put(at('a', 4));
    assert.deepEqual(scene.takeLog(), ['add a@1', 'delete a@2', 'add b@3', 'add a@4']);
  });
});

test('C71 an unreadable object is replaced by a list with its readable state of the same version', () => {
  const scene = new Scene();
  scene.put(at('a', 1), { flags: NotificationFlag.Malformed });
  scene.put(at('b', 2), { flags: NotificationFlag.TooLarge });
  scene.takeLog();
  scene.relist({}, at('a', 1), at('b', 2));
  assert.deepEqual(scene.object('a'), wireObject(at('a', 1)));
  assert.deepEqual(scene.object('b'), wireObject(at('b', 2)));
  scene.relist({ flags: NotificationFlag.Malformed }, at('a', 1), at('b', 2));
  const row = scene.replica.rowByKey('a');
  scene.relist({ flags: NotificationFlag.Malformed }, at('a', 1), at('b', 2));
  assert.equal(scene.replica.rowByKey('a'), row, 'an equally unreadable object is unchanged');
});

describe('entries', () => {
  for (const place of ['log', 'inline', 'parts'] as const) {
    test(`have private bytes, from any place in the record (${place})`, () => {
      const scene = new Scene();
      const spec = { ...at('a', 1), spec: { text: 'naïve'.repeat(100) } };
      scene.put(spec, { place });
      // Overwrites log and ring.
      for (let version = 2; version < 400; version++)
        scene.put({ ...at('b', version), spec: 'z'.repeat(300) }, { place });
      assert.deepEqual(scene.object('a'), wireObject(spec));
    });
  }

  test('with unchanged fields share their values, also when other metadata has changed', () => {
    const scene = new Scene({ fields: ['spec.nodeName'] });
    const labels = { app: 'naïve' };
    scene.put({ ...at('a', 1), labels, fields: ['node-1'] });
    const { facts } = scene.entry('a');
    const shared = facts.fields.labels;
    scene.put({ ...at('a', 2), labels, fields: ['node-1'] });
    assert.notEqual(scene.entry('a').facts, facts);
    assert.equal(scene.entry('a').labels, shared);
    scene.put({ ...at('a', 3), labels, fields: ['node-2'] });
    assert.notEqual(scene.entry('a').labels, shared);
    assert.deepEqual(scene.entry('a').fields, { 'spec.nodeName': 'node-2' });
    assert.deepEqual(scene.entry('a').labels, labels);
  });

  test('whose metadata differs only in the version share extracted fields and parsed metadata', () => {
    const scene = new Scene();
    const state = (version: number): ObjectSpec => ({ ...at('a', version), labels: { app: 'naïve' } });
    scene.put(state(1));
    const { facts } = scene.entry('a');
    scene.put(state(2), { hasSameFields: true });
    assert.equal(scene.entry('a').facts, facts);
    const parsed = scene.metadata('a');
    for (const next of [state(3), state(4)]) {
      scene.put(next, { hasSameFields: true });
      const metadata = scene.metadata('a');
      assert.equal(metadata.labels, parsed.labels, 'nothing was parsed');
      assert.deepEqual(metadata, wireObject(next).metadata);
      assert.deepEqual(Object.keys(metadata), Object.keys(parsed));
    }
    const changed = { ...at('a', 5), labels: { app: 'other' } };
    scene.put(changed);
    assert.deepEqual(scene.metadata('a'), wireObject(changed).metadata);
  });

  test('count the cached metadata by its size', () => {
    const scene = new Scene();
    const remembered = (note: string): number => {
      scene.put(at('a', 1), { bytes: annotated(1, note) });
      scene.put(at('a', 2), { bytes: annotated(2, note), hasSameFields: true });
      const before = scene.cache.costBytes;
      scene.metadata('a');
      return scene.cache.costBytes - before;
    };
    assert.ok(remembered('short') < 2000);
    assert.ok(remembered('x'.repeat(3000)) > 2 * 2 * 3000, 'for this call, and for later states');
  });

  test('with other metadata but the same fields do not share parsed metadata', () => {
    const scene = new Scene();
    scene.put(at('a', 1));
    scene.put(at('a', 2), { hasSameFields: true });
    scene.metadata('a');
    const bytes = annotated(3, 'new');
    scene.put(at('a', 3), { bytes });
    assert.deepEqual(scene.metadata('a'), (JSON.parse(bytes.toString()) as WireObject).metadata);
  });

  test('C22 C23 carry the shard’s findings about them', () => {
    const scene = new Scene();
    scene.put(at('large', 1), { flags: NotificationFlag.TooLarge });
    scene.put(at('bad', 2), { flags: NotificationFlag.Malformed });
    scene.put(at('raw', 3), { flags: NotificationFlag.TransformFailed });
    assert.throws(() => scene.object('large'), { code: 'ERR_KUBELOOM_OBJECT_TOO_LARGE', message: /large/ });
    assert.throws(() => scene.object('bad'), { code: 'ERR_KUBELOOM_MALFORMED_OBJECT', message: /bad@2/ });
    assert.equal(scene.entry('raw').flags & EntryFlag.TransformFailed, EntryFlag.TransformFailed);
    assert.equal(scene.entry('large').uid, 'uid-of-large');
  });

  for (const place of ['log', 'inline', 'parts'] as const) {
    test(`C31 C200 of a relisted object stay while its content does, whatever its version is (${place})`, () => {
      const scene = new Scene();
      const state = (text: string): ObjectSpec => ({ ...at('a', 5), spec: { text: text.repeat(50) } });
      scene.relist({ place }, state('old'));
      const before = scene.entry('a');
      scene.relist({ place }, state('old'));
      assert.equal(scene.entry('a'), before);
      for (const [list, text] of [
        [[state('new')], 'new'],
        [[state('newer than ever')], 'newer than ever'],
        [[state('one'), state('two')], 'two'],
      ] as const) {
        const previous = scene.entry('a');
        scene.relist({ place }, ...list);
        assert.notEqual(scene.entry('a'), previous);
        assert.deepEqual(scene.object('a').spec, { text: text.repeat(50) });
      }
      const last = scene.entry('a');
      scene.relist({ place }, state('in between'), state('two'));
      assert.equal(scene.entry('a'), last, 'the list ends with what is in the cache');
      assert.deepEqual(scene.object('a').spec, { text: 'two'.repeat(50) });
    });
  }

  test('C200 that changed under their version are delivered, also to handlers without a resync', () => {
    const scene = new Scene({ isResyncDue: false });
    scene.relist({}, { ...at('a', 5), spec: 'old' }, at('b', 6));
    scene.takeLog();
    scene.relist({}, { ...at('a', 5), spec: 'new' }, at('b', 6));
    assert.deepEqual(scene.takeLog(), ['ReplaceBegin', 'update a@5>5', 'ReplaceEnd 1000']);
  });

  test('C15 of a relisted object with the same uid, version and fields stay; others are replaced', () => {
    const scene = new Scene();
    scene.relist({}, at('same', 1), { ...at('other-uid', 2), uid: 'first' }, at('fields', 3));
    const [same, otherUid, fields] = ['same', 'other-uid', 'fields'].map((key) => scene.entry(key));
    const labelled = { ...at('fields', 3), labels: { app: 'x' } };
    scene.relist({}, at('same', 1), { ...at('other-uid', 2), uid: 'second' }, labelled);
    assert.equal(scene.entry('same'), same);
    assert.notEqual(scene.entry('other-uid'), otherUid);
    assert.equal(scene.entry('other-uid').uid, 'second');
    assert.notEqual(scene.entry('fields'), fields);
  });
});

describe('a list', () => {
  test('C5 that lists an unchanged object twice has it once', () => {
    const scene = new Scene();
    scene.relist({}, at('a', 1));
    scene.takeLog();
    scene.relist({}, at('a', 1), at('b', 2), at('a', 1), at('b', 2));
    assert.deepEqual(scene.takeLog(), ['ReplaceBegin', 'update a@1>1', 'add b@2', 'ReplaceEnd 1000']);
    assert.deepEqual(scene.indexer.listKeys(), ['a', 'b']);
  });
});

describe('a plain transform', () => {
  function trim(object: unknown): unknown {
    runs++;
    const { kind, metadata } = object as WireObject;
    return { kind, metadata: { ...metadata, labels: { trimmed: 'jä' } } };
  }

  let runs = 0;
  beforeEach(() => (runs = 0));

  test('C16 may return labels of any size', () => {
    const labels = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`label-${n}`, 'x'.repeat(20)]));
    const scene = new Scene({ transform: (object) => changed(object, { labels }) });
    scene.put(at('a', 1), { extracted: '' });
    assert.deepEqual(scene.entry('a').labels, labels);
  });

  test('C16 may change the object it receives', () => {
    const scene = new Scene({ transform: (object) => Object.assign(object as object, { spec: 'replaced' }) });
    scene.put(at('a', 'text-version'), { extracted: '' });
    assert.equal(scene.object('a').spec, 'replaced');
  });

  for (const [what, transform] of [
    ['throws', (): never => assert.fail('no')],
    ['returns nothing', (): undefined => undefined],
    ['returns a promise', (): Promise<unknown> => Promise.resolve({})],
    ['changes the name', (object: unknown): unknown => changed(object, { name: 'other' })],
    ['changes the namespace', (object: unknown): unknown => changed(object, { namespace: 'other' })],
    ['changes the uid', (object: unknown): unknown => changed(object, { uid: 'other' })],
    [
      'changes the version in place',
      (object: unknown): unknown => {
        Object.assign((object as WireObject).metadata, { resourceVersion: '9' });
        return object;
      },
    ],
  ] as const) {
    test(`C16 that ${what} is reported with the key, and the object is stored as received`, () => {
      const scene = new Scene({ transform });
      const spec = { ...at('a', 1), labels: { app: 'web' } };
      scene.put(spec, { extracted: '' });
      assert.deepEqual(scene.takeLog(), ['ERR_KUBELOOM_TRANSFORM a', 'add a@1']);
      assert.deepEqual(scene.object('a'), wireObject(spec));
      assert.deepEqual(scene.entry('a').labels, { app: 'web' });
      assert.equal(scene.entry('a').flags & EntryFlag.TransformFailed, EntryFlag.TransformFailed);
    });
  }

  test('C31 C48 a relisted object whose result did not change keeps its entry', () => {
    const scene = new Scene({ transform: trim });
    scene.relist({ extracted: '' }, at('a', 1), { ...at('b', 2), uid: 'first' });
    const [a, b] = [scene.entry('a'), scene.entry('b')];
    scene.relist({ extracted: '' }, at('a', 1), { ...at('b', 2), uid: 'second' });
    assert.equal(scene.entry('a'), a);
    assert.notEqual(scene.entry('b'), b);
    scene.relist({ extracted: '' }, { ...at('a', 1), spec: 'trimmed' });
    assert.equal(scene.entry('a'), a);
    assert.equal(runs, 5);
  });

  test('C22 is not called for an object that was too large, which keeps its uid', () => {
    const scene = new Scene({ transform: () => assert.fail() });
    scene.put(at('large', 1), { extracted: '', flags: NotificationFlag.TooLarge });
    assert.deepEqual(scene.takeLog(), ['add large@1']);
    assert.equal(scene.entry('large').uid, 'uid-of-large');
  });

  function changed(object: unknown, metadata: object): unknown {
    const original = object as WireObject;
    return { ...original, metadata: { ...original.metadata, ...metadata } };
  }
});

describe('new threads', () => {
  test('C173 begin at the version of the cache, without the list that was open', () => {
    const scene = new Scene();
    assert.deepEqual(scene.merge.restart(true), { resourceVersion: '', epoch: 0 });
    scene.relist({ extracted: '' }, at('a', 1));
    const { resourceVersion } = scene.merge.restart(true);
    assert.equal(resourceVersion, scene.replica.live.resourceVersion);
    scene.shards.sendControl(DeltaKind.ReplaceBegin, 30);
    scene.shards.sendObject(at('b', 2), { kind: DeltaKind.Replaced });
    scene.shards.drain();
    assert.deepEqual(scene.merge.restart(true), { resourceVersion, epoch: 30 });
    scene.shards.sendControl(DeltaKind.ReplaceEnd, 30, '17');
    scene.shards.drain();
    assert.equal(scene.replica.live.size, 1, 'the end of the list that was open has no effect');
  });
});
