/**
 * Tests of RealFIFO: the cases of client-go's the_real_fifo_test.go. A row of `after` is one pop; `a@1?` is a
 * tombstone.
 */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import { KeyError, metaNamespaceKeyFunc } from '../../../../src/kube/keys.ts';
import { tombstone } from '../../../../src/kube/tombstone.ts';
import { RealFIFO } from '../../../../src/client-go/queue/real-fifo.ts';
import type { RealFIFOOptions } from '../../../../src/client-go/queue/real-fifo.ts';
import { object, textOf, type TestObject } from './notation.ts';
import { known, perform, popAll, type Step } from './scene.ts';

interface Case {
  readonly title: string;
  readonly steps: readonly Step[];
  readonly after: readonly string[];
}

interface PlainCase extends Case {
  readonly known: string;
}

const PLAIN: readonly PlainCase[] = [
  {
    title: 'a queued deletion stays before the list that has the object again',
    known: 'foo@1',
    steps: [
      ['delete', 'foo@1'],
      ['replace', '2', 'foo@2'],
    ],
    after: ['Deleted foo@1', 'Replaced foo@2'],
  },
  {
    title: 'a list deletes an object that is only queued: added',
    known: '',
    steps: [
      ['add', 'o@1'],
      ['replace', '0', ''],
    ],
    after: ['Added o@1', 'Deleted o@1?'],
  },
  {
    title: 'a list deletes an object that is only queued, not one with a queued deletion',
    known: '',
    steps: [
      ['add', 'o@1'],
      ['delete', 'o@1'],
      ['replace', '0', ''],
    ],
    after: ['Added o@1', 'Deleted o@1'],
  },
  {
    title: 'a list deletes an object that is only queued: listed twice',
    known: '',
    steps: [
      ['add', 'o@1'],
      ['replace', '0', 'o@1'],
      ['replace', '0', 'o@1'],
      ['replace', '0', ''],
    ],
    after: ['Added o@1', 'Replaced o@1', 'Replaced o@1', 'Deleted o@1?'],
  },
  {
    title: 'a list deletes an object that is only queued, once for two lists',
    known: '',
    steps: [
      ['add', 'o@1'],
      ['replace', '0', ''],
      ['replace', '0', ''],
    ],
    after: ['Added o@1', 'Deleted o@1?'],
  },
  {
    title: 'a list deletes an object that was deleted and created again while queued',
    known: '',
    steps: [
      ['add', 'o@1'],
      ['delete', 'o@1'],
      ['add', 'o@2'],
      ['replace', '0', ''],
    ],
    after: ['Added o@1', 'Deleted o@1', 'Added o@2', 'Deleted o@2?'],
  },
  {
    title: 'bookmarks are not queued',
    known: '',
    steps: [
      ['bookmark', '123'],
      ['replace', '0', ''],
      ['replace', '0', ''],
    ],
    after: [],
  },
  {
    title: 'every change is queued, deletions of unknown objects too',
    known: 'foo@5 bar@6 baz@7',
    steps: [
      ['add', 'foo@10'],
      ['update', 'bar@15'],
      ['delete', 'baz@20'],
      ['delete', 'qux@21'],
    ],
    after: ['Added foo@10', 'Updated bar@15', 'Deleted baz@20', 'Deleted qux@21'],
  },
  {
    title: 'a list follows the queued changes',
    known: '',
    steps: [
      ['add', 'foo@10'],
      ['replace', '0', 'foo@15'],
    ],
    after: ['Added foo@10', 'Replaced foo@15'],
  },
  {
    title: 'a resync does not bring back an object whose deletion is queued',
    known: 'foo@5',
    steps: [['delete', 'foo@10'], ['resync']],
    after: ['Deleted foo@10'],
  },
  { title: 'a resync queues known objects', known: 'foo@5', steps: [['resync']], after: ['Sync foo@5'] },
  {
    title: 'a deletion of a queued object that is not known is queued',
    known: '',
    steps: [
      ['add', 'foo@5'],
      ['delete', 'foo@6'],
    ],
    after: ['Added foo@5', 'Deleted foo@6'],
  },
  {
    title: 'a resync does not bring back a state older than the queued one',
    known: 'foo@5',
    steps: [['update', 'foo@6'], ['resync']],
    after: ['Updated foo@6'],
  },
  {
    title: 'a list deletes missing queued objects, then missing known ones, and then queues its items',
    known: 'foo@5 bar@6 baz@7',
    steps: [
      ['delete', 'baz@10'],
      ['update', 'bar@11'],
      ['replace', '0', 'zab@1 foo@6'],
    ],
    after: ['Deleted baz@10', 'Updated bar@11', 'Deleted bar@11?', 'Replaced zab@1', 'Replaced foo@6'],
  },
  {
    title: 'a list deletes known objects with their known state',
    known: 'foo@5 bar@6 baz@7',
    steps: [
      ['delete', 'baz@10'],
      ['replace', '0', 'foo@6'],
    ],
    after: ['Deleted baz@10', 'Deleted bar@6?', 'Replaced foo@6'],
  },
  {
    title: 'every change of a key keeps its place in the queue',
    known: '',
    steps: [
      ['add', 'foo@10'],
      ['add', 'bar@1'],
      ['add', 'foo@11'],
      ['add', 'foo@13'],
      ['add', 'zab@30'],
    ],
    after: ['Added foo@10', 'Added bar@1', 'Added foo@11', 'Added foo@13', 'Added zab@30'],
  },
];

const ATOMIC: readonly Case[] = [
  { title: 'an empty list is one delta', steps: [['replace', '123', '']], after: ['ReplacedAll 123 []'] },
  {
    title: 'a list follows the queued changes and deletes nothing itself',
    steps: [
      ['add', 'o@1'],
      ['replace', '2', ''],
    ],
    after: ['Added o@1', 'ReplacedAll 2 []'],
  },
  {
    title: 'each list is one delta, in order',
    steps: [
      ['add', 'o@1'],
      ['replace', '10', 'o@1'],
      ['replace', '20', 'o@1'],
      ['replace', '56', ''],
    ],
    after: ['Added o@1', 'ReplacedAll 10 [o@1]', 'ReplacedAll 20 [o@1]', 'ReplacedAll 56 []'],
  },
  {
    title: 'bookmarks are queued in order',
    steps: [
      ['bookmark', '123'],
      ['replace', '1234', ''],
    ],
    after: ['Bookmark 123', 'ReplacedAll 1234 []'],
  },
  {
    title: 'a list keeps the order of its items',
    steps: [
      ['add', 'foo@10'],
      ['replace', '20', 'foo@15 bar@3'],
    ],
    after: ['Added foo@10', 'ReplacedAll 20 [foo@15 bar@3]'],
  },
  { title: 'a resync is one delta', steps: [['resync']], after: ['SyncAll'] },
  {
    title: 'a resync follows the queued changes',
    steps: [['add', 'o@1'], ['resync']],
    after: ['Added o@1', 'SyncAll'],
  },
];

const REFUSED: readonly { readonly title: string; readonly options: object }[] = [
  { title: 'known objects with atomic events', options: { atomicEvents: true, knownObjects: known('') } },
  { title: 'neither known objects nor atomic events', options: {} },
  {
    title: 'bookmarks without atomic events',
    options: { knownObjects: known(''), emitDeltaTypeBookmark: true },
  },
  { title: 'a batch size of 0', options: { atomicEvents: true, batchSize: 0 } },
];

describe('a RealFIFO', () => {
  for (const row of PLAIN) {
    test(`C103 ${row.title}`, async () => {
      const queue = new RealFIFO<TestObject>({ knownObjects: known(row.known) });
      perform(queue, row.steps);
      assert.deepEqual(await popAll(queue), row.after);
    });
  }

  for (const row of ATOMIC) {
    test(`C103 with atomic events: ${row.title}`, async () => {
      const queue = new RealFIFO<TestObject>({ atomicEvents: true, emitDeltaTypeBookmark: true });
      perform(queue, row.steps);
      assert.deepEqual(await popAll(queue), row.after);
    });
  }

  for (const { title, options } of REFUSED) {
    test(`refuses ${title}`, () => {
      assert.throws(() => new RealFIFO(options as RealFIFOOptions<TestObject>), {
        code: 'ERR_KUBELOOM_OPTION',
      });
    });
  }

  test('ignores bookmarks by default', () => {
    const queue = new RealFIFO<TestObject>({ atomicEvents: true });
    queue.bookmark('5');
    assert.equal(queue.size, 0);
  });

  test('transforms each received object once, and neither tombstones nor resyncs', async () => {
    const seen: string[] = [];
    const queue = new RealFIFO<TestObject>({
      transformer: (item) => {
        seen.push(textOf(item));
        return object(`${textOf(item)}'`);
      },
      knownObjects: known('old@1'),
    });
    assert.equal(typeof queue.transformer, 'function');
    queue.resync();
    perform(queue, [
      ['add', 'foo@10'],
      ['add', 'bar@11'],
      ['update', 'foo@12'],
      ['delete', 'foo@15'],
      ['replace', '1', ''],
      ['add', 'bar@16'],
      ['replace', '2', 'new@3'],
    ]);
    queue.delete(tombstone('x', object('x@1')));
    assert.deepEqual(seen, ['foo@10', 'bar@11', 'foo@12', 'foo@15', 'bar@16', 'new@3']);
    assert.deepEqual(await popAll(queue), [
      'Sync old@1',
      "Added foo@10'",
      "Added bar@11'",
      "Updated foo@12'",
      "Deleted foo@15'",
      'Deleted old@1?',
      "Deleted bar@11'?",
      "Added bar@16'",
      "Deleted bar@16'?",
      "Replaced new@3'",
      'Deleted x@1?',
    ]);
  });

  test('transforms the objects of an atomic list', async () => {
    const queue = new RealFIFO<TestObject>({
      atomicEvents: true,
      transformer: (item) => object(`${textOf(item)}'`),
    });
    perform(queue, [['replace', '7', 'a@1 b@2']]);
    assert.deepEqual(await popAll(queue), ["ReplacedAll 7 [a@1' b@2']"]);
  });

  for (const atomicEvents of [true, false]) {
    const mode = atomicEvents ? 'atomic' : 'not atomic';
    const options: RealFIFOOptions<TestObject> = atomicEvents
      ? { atomicEvents }
      : { knownObjects: known('x@1') };

    test(`C106 is unchanged, and not synced, by a call whose transformer throws (${mode})`, () => {
      const failure = new Error('no');
      const transformer = (item: TestObject): TestObject => {
        if (item.metadata.name === 'bad') throw failure;
        return item;
      };
      const queue = new RealFIFO<TestObject>({ ...options, transformer });
      assert.throws(() => queue.add(object('bad@1')), failure);
      assert.throws(() => queue.update(object('bad@1')), failure);
      assert.throws(() => queue.delete(object('bad@1')), failure);
      assert.throws(() => queue.replace([object('good@1'), object('bad@1')], '1'), failure);
      assert.equal(queue.size, 0);
      assert.equal(queue.hasSynced(), false);
    });

    test(`C106 rejects a list as a whole when one object has no key, also after its transform (${mode})`, () => {
      const transformer = (item: TestObject): TestObject =>
        item.metadata.name === 'bad' ? { metadata: { name: '', resourceVersion: '1' } } : item;
      const queue = new RealFIFO<TestObject>({ ...options, transformer });
      assert.throws(() => queue.replace([object('good@1'), object('bad@1')], '1'), KeyError);
      assert.throws(() => queue.replace([object('good@1'), object('@1')], '1'), KeyError);
      assert.throws(() => queue.add(object('@1')), KeyError);
      assert.equal(queue.size, 0);
      assert.equal(queue.hasSynced(), false);
    });
  }

  test('turns an error of a key function into a KeyError', () => {
    const failure = new Error('boom');
    const keyFunction = (): string => {
      throw failure;
    };
    const queue = new RealFIFO<TestObject>({ atomicEvents: true, keyFunction });
    assert.throws(
      () => queue.add(object('a@1')),
      (error) => error instanceof KeyError && error.cause === failure,
    );
  });

  test('returns the key of an object, of a tombstone and of deltas', () => {
    const queue = new RealFIFO<TestObject>({ atomicEvents: true, keyFunction: metaNamespaceKeyFunc });
    assert.equal(queue.keyOf(object('foo@1')), 'foo');
    assert.equal(queue.keyOf(tombstone<TestObject>('bar', undefined)), 'bar');
    assert.equal(queue.keyOf([{ type: 'Added', object: object('foo@1') }]), 'foo');
    assert.equal(queue.keyOf([{ type: 'Deleted', object: tombstone<TestObject>('bar', undefined) }]), 'bar');
    assert.throws(() => queue.keyOf([]), KeyError);
    assert.throws(() => queue.keyOf([{ type: 'SyncAll' }]), KeyError);
  });

  test('reports its depth and every processing', async () => {
    const depths: number[] = [];
    const processed: number[] = [];
    const queue = new RealFIFO<TestObject>({
      atomicEvents: true,
      onDepth: (depth) => depths.push(depth),
      onProcessed: (changes, durationMs) => {
        assert.ok(durationMs >= 0);
        processed.push(changes);
      },
    });
    perform(queue, [
      ['add', 'a@1'],
      ['add', 'b@1'],
      ['add', 'c@1'],
    ]);
    await queue.pop(() => {});
    await assert.rejects(
      queue.popBatch(
        () => {
          throw new Error('no');
        },
        () => {},
      ),
    );
    assert.deepEqual(depths, [1, 2, 3, 2, 0]);
    assert.deepEqual(processed, [1, 2]);
  });
});
