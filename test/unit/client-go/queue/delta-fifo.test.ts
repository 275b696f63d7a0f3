/**
 * Tests of DeltaFIFO: the cases of client-go's delta_fifo_test.go. A row of `after` is one pop; `a@1?` is a tombstone.
 */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import { KeyError } from '../../../../src/kube/keys.ts';
import { tombstone } from '../../../../src/kube/tombstone.ts';
import { DeltaFIFO, type DeltaFIFOOptions } from '../../../../src/client-go/queue/delta-fifo.ts';
import { newestDelta, oldestDelta } from '../../../../src/client-go/queue/delta.ts';
import { deltasText, object, textOf, type TestObject } from './notation.ts';
import { known, perform, popAll, type Step } from './scene.ts';

interface Case {
  readonly title: string;
  /** Undefined for a queue without known objects. */
  readonly known?: string;
  readonly replaced?: true;
  readonly steps: readonly Step[];
  readonly after: readonly string[];
}

const CASES: readonly Case[] = [
  {
    title: 'adds, updates and deletions of one key come in one pop',
    steps: [
      ['add', 'foo@10'],
      ['update', 'foo@12'],
      ['delete', 'foo@15'],
    ],
    after: ['Added foo@10, Updated foo@12, Deleted foo@15'],
  },
  {
    title: 'a deletion of an object neither queued nor known is ignored, without known objects',
    steps: [
      ['add', 'foo@10'],
      ['update', 'bar@15'],
      ['add', 'qux@17'],
      ['delete', 'qux@18'],
      ['delete', 'baz@20'],
    ],
    after: ['Added foo@10', 'Updated bar@15', 'Added qux@17, Deleted qux@18'],
  },
  {
    title: 'a deletion of a known object is queued',
    known: 'foo@5 bar@6 baz@7',
    steps: [
      ['add', 'foo@10'],
      ['update', 'bar@15'],
      ['delete', 'baz@20'],
      ['delete', 'qux@21'],
    ],
    after: ['Added foo@10', 'Updated bar@15', 'Deleted baz@20'],
  },
  {
    title: 'a list adds to the deltas of its keys',
    steps: [
      ['add', 'foo@10'],
      ['replace', '0', 'foo@15'],
    ],
    after: ['Added foo@10, Sync foo@15'],
  },
  {
    title: 'a list is queued as Replaced with emitDeltaTypeReplaced',
    replaced: true,
    steps: [['replace', '0', 'foo@5']],
    after: ['Replaced foo@5'],
  },
  {
    title: 'a resync does not bring back an object whose deletion is queued',
    known: 'foo@5',
    steps: [['delete', 'foo@10'], ['resync']],
    after: ['Deleted foo@10'],
  },
  {
    title: 'a resync queues known objects',
    known: 'foo@5 bar@6',
    steps: [['resync']],
    after: ['Sync foo@5', 'Sync bar@6'],
  },
  {
    title: 'a resync without known objects queues nothing',
    steps: [['add', 'foo@1'], ['resync']],
    after: ['Added foo@1'],
  },
  {
    title: 'a resync does not bring back a state older than the queued one',
    known: 'foo@5',
    steps: [['update', 'foo@6'], ['resync']],
    after: ['Updated foo@6'],
  },
  {
    title: 'a deletion of a queued object that is not known is queued',
    known: '',
    steps: [
      ['add', 'foo@5'],
      ['delete', 'foo@6'],
    ],
    after: ['Added foo@5, Deleted foo@6'],
  },
  {
    title: 'two final states in a row: the first stays',
    known: '',
    steps: [
      ['add', 'foo@5'],
      ['delete', 'foo@6'],
      ['delete', 'foo@7'],
    ],
    after: ['Added foo@5, Deleted foo@6'],
  },
  {
    title: 'a final state replaces a tombstone before it',
    known: 'foo@5',
    steps: [
      ['replace', '9', ''],
      ['delete', 'foo@6'],
    ],
    after: ['Deleted foo@6'],
  },
  {
    title: 'a list deletes known objects that it misses, but not those with a queued deletion',
    known: 'foo@5 bar@6 baz@7',
    steps: [
      ['delete', 'baz@10'],
      ['replace', '0', 'foo@5'],
    ],
    after: ['Deleted baz@10', 'Sync foo@5', 'Deleted bar@6?'],
  },
  {
    title: 'the same with Replaced',
    known: 'foo@5 bar@6 baz@7',
    replaced: true,
    steps: [
      ['delete', 'baz@10'],
      ['replace', '0', 'foo@5'],
    ],
    after: ['Deleted baz@10', 'Replaced foo@5', 'Deleted bar@6?'],
  },
  {
    title: 'a list deletes the queued state, which is newer than the known one',
    known: 'foo@5 bar@6 baz@7',
    steps: [
      ['add', 'baz@10'],
      ['replace', '0', 'foo@5'],
    ],
    after: ['Added baz@10, Deleted baz@10?', 'Sync foo@5', 'Deleted bar@6?'],
  },
  {
    title: 'a list deletes an object that was deleted and created again while queued',
    known: 'foo@5 bar@6 baz@7',
    steps: [
      ['delete', 'bar@6'],
      ['add', 'bar@100'],
      ['replace', '0', 'foo@5'],
    ],
    after: ['Deleted bar@6, Added bar@100, Deleted bar@100?', 'Sync foo@5', 'Deleted baz@7?'],
  },
  {
    title: 'a second list deletes objects that only the first one had',
    known: 'foo@5 bar@6 baz@7',
    steps: [
      ['replace', '0', 'bar@100 foo@5'],
      ['replace', '0', 'foo@5'],
    ],
    after: ['Sync bar@100, Deleted bar@100?', 'Sync foo@5, Sync foo@5', 'Deleted baz@7?'],
  },
  {
    title: 'a list deletes objects that are only queued, without known objects',
    steps: [
      ['add', 'baz@10'],
      ['replace', '0', 'foo@5'],
    ],
    after: ['Added baz@10, Deleted baz@10?', 'Sync foo@5'],
  },
];

/** client-go runs these both without known objects and without the option. */
const ONLY_QUEUED: readonly Case[] = [
  {
    title: 'added',
    steps: [
      ['add', 'o@1'],
      ['replace', '0', ''],
    ],
    after: ['Added o@1, Deleted o@1?'],
  },
  {
    title: 'added and listed',
    replaced: true,
    steps: [
      ['add', 'o@1'],
      ['replace', '0', 'o@1'],
      ['replace', '0', ''],
    ],
    after: ['Added o@1, Replaced o@1, Deleted o@1?'],
  },
  {
    title: 'added and deleted',
    steps: [
      ['add', 'o@1'],
      ['delete', 'o@1'],
      ['replace', '0', ''],
    ],
    after: ['Added o@1, Deleted o@1'],
  },
  {
    title: 'listed twice',
    steps: [
      ['add', 'o@1'],
      ['replace', '0', 'o@1'],
      ['replace', '0', 'o@1'],
      ['replace', '0', ''],
    ],
    after: ['Added o@1, Sync o@1, Sync o@1, Deleted o@1?'],
  },
  {
    title: 'missing twice',
    steps: [
      ['add', 'o@1'],
      ['replace', '0', ''],
      ['replace', '0', ''],
    ],
    after: ['Added o@1, Deleted o@1?'],
  },
  {
    title: 'deleted and created again',
    steps: [
      ['add', 'o@1'],
      ['delete', 'o@1'],
      ['add', 'o@2'],
      ['replace', '0', ''],
    ],
    after: ['Added o@1, Deleted o@1, Added o@2, Deleted o@2?'],
  },
];

function fifo(row: Case, options: DeltaFIFOOptions<TestObject> = {}): DeltaFIFO<TestObject> {
  return new DeltaFIFO<TestObject>({
    ...options,
    emitDeltaTypeReplaced: row.replaced === true,
    ...(row.known === undefined ? {} : { knownObjects: known(row.known) }),
  });
}

describe('a DeltaFIFO', () => {
  for (const row of CASES) {
    test(`C104 ${row.title}`, async () => {
      const queue = fifo(row);
      perform(queue, row.steps);
      assert.deepEqual(await popAll(queue), row.after);
    });
  }

  for (const row of ONLY_QUEUED) {
    for (const knownText of [undefined, '']) {
      const which = knownText === undefined ? 'without known objects' : 'with none known';
      test(`a list deletes objects that are only queued, ${row.title}, ${which}`, async () => {
        const queue = fifo(knownText === undefined ? row : { ...row, known: knownText });
        perform(queue, row.steps);
        assert.deepEqual(await popAll(queue), row.after);
      });
    }
  }

  test('C104 no key overtakes another, and a popped one follows all others', async () => {
    const queue = new DeltaFIFO<TestObject>();
    perform(queue, [
      ['add', 'foo@10'],
      ['add', 'bar@1'],
      ['add', 'foo@11'],
      ['add', 'foo@13'],
      ['add', 'zab@30'],
    ]);
    assert.equal(deltasText(await queue.pop(() => {})), 'Added foo@10, Added foo@11, Added foo@13');
    queue.add(object('foo@14'));
    assert.deepEqual(queue.listKeys(), ['bar', 'zab', 'foo']);
    assert.deepEqual(await popAll(queue), ['Added bar@1', 'Added zab@30', 'Added foo@14']);
  });

  test('shows the queued keys, newest objects and copies of deltas', () => {
    const queue = new DeltaFIFO<TestObject>();
    perform(queue, [
      ['add', 'foo@10'],
      ['update', 'foo@12'],
      ['add', 'bar@1'],
    ]);
    assert.equal(queue.size, 2);
    assert.deepEqual(queue.listKeys(), ['foo', 'bar']);
    assert.deepEqual(queue.list().map(textOf), ['foo@12', 'bar@1']);
    const copy = queue.get(object('foo@0'))!;
    queue.delete(object('foo@13'));
    assert.equal(deltasText(copy), 'Added foo@10, Updated foo@12');
    assert.equal(deltasText(queue.getByKey('foo')!), 'Added foo@10, Updated foo@12, Deleted foo@13');
    assert.equal(textOf(oldestDelta(queue.getByKey('foo')!)!.object), 'foo@10');
    assert.equal(textOf(newestDelta(queue.getByKey('foo')!)!.object), 'foo@13');
    assert.equal(newestDelta([]), undefined);
    assert.equal(oldestDelta([]), undefined);
    assert.equal(queue.getByKey('baz'), undefined);
  });

  test('returns the key of an object, of a tombstone and of deltas', () => {
    const queue = new DeltaFIFO<TestObject>();
    assert.equal(queue.keyOf(object('foo@1')), 'foo');
    assert.equal(queue.keyOf(tombstone<TestObject>('bar', undefined)), 'bar');
    assert.equal(
      queue.keyOf([
        { type: 'Added', object: object('x@1') },
        { type: 'Added', object: object('foo@1') },
      ]),
      'foo',
    );
    assert.equal(queue.keyOf([{ type: 'Deleted', object: tombstone<TestObject>('bar', undefined) }]), 'bar');
    assert.throws(() => queue.keyOf([]), KeyError);
  });

  test('transforms each received object once, and neither tombstones nor resyncs', async () => {
    const seen: string[] = [];
    const queue = new DeltaFIFO<TestObject>({
      transformer: (item) => {
        seen.push(textOf(item));
        return object(`${textOf(item)}'`);
      },
      knownObjects: known('old@1'),
    });
    assert.equal(typeof queue.transformer, 'function');
    perform(queue, [
      ['add', 'foo@10'],
      ['add', 'bar@11'],
      ['update', 'foo@12'],
      ['delete', 'foo@15'],
      ['resync'],
      ['replace', '1', ''],
      ['add', 'bar@16'],
      ['replace', '2', ''],
    ]);
    queue.delete(tombstone('old', object('old@1')));
    assert.deepEqual(seen, ['foo@10', 'bar@11', 'foo@12', 'foo@15', 'bar@16']);
    assert.deepEqual(await popAll(queue), [
      "Added foo@10', Updated foo@12', Deleted foo@15'",
      "Added bar@11', Deleted bar@11'?, Added bar@16', Deleted bar@16'?",
      'Sync old@1, Deleted old@1?',
    ]);
  });

  test('C106 is unchanged by a call whose transformer or key function throws', async () => {
    const queue = new DeltaFIFO<TestObject>({
      transformer: (item) => {
        if (item.metadata.name === 'bad') throw new Error('no');
        return item;
      },
      keyFunction: (item) => {
        if (item.metadata.name === 'keyless') throw new Error('no key');
        return item.metadata.name;
      },
    });
    for (const name of ['bad', 'keyless']) {
      assert.throws(() => queue.add(object(`${name}@1`)));
      assert.throws(() => queue.update(object(`${name}@1`)));
      assert.throws(() => queue.replace([object('good@1'), object(`${name}@1`)], '1'));
    }
    assert.throws(() => queue.delete(object('keyless@1')), KeyError);
    assert.equal(queue.hasSynced(), false);
    assert.deepEqual(await popAll(queue), []);
  });
});
