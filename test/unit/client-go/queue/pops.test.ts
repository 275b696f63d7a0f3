/**
 * Tests of what each queue pops for the same steps: the cases of client-go's fifo_test.go, delta_fifo_test.go and
 * the_real_fifo_test.go that the table of histories does not contain. The notation is that of the histories.
 */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import { KeyError } from '../../../../src/kube/keys.ts';
import type { KeyFunction } from '../../../../src/kube/store.ts';
import { tombstone } from '../../../../src/kube/tombstone.ts';
import { object, objects, textOf } from './notation.ts';
import type { TestObject } from './notation.ts';
import { QUEUES, atomicFifo, deltaFifo, perform, popAll, realFifo } from './scene.ts';
import type { AnyQueue, QueueName } from './scene.ts';

interface Row {
  /** Without it a DeltaFIFO runs twice: without known objects, and with none known. */
  readonly known?: string;
  readonly steps: string;
  readonly fifo?: string;
  readonly deltaFifo: string;
  readonly realFifo: string;
  readonly atomic?: string;
}

const ROWS: Readonly<Record<string, Row>> = {
  'no key overtakes another': {
    steps: 'add foo@10, add bar@1, add foo@11, add foo@13, add zab@30',
    fifo: 'foo@13 | bar@1 | zab@30',
    deltaFifo: 'Added foo@10, Added foo@11, Added foo@13 | Added bar@1 | Added zab@30',
    realFifo: 'Added foo@10 | Added bar@1 | Added foo@11 | Added foo@13 | Added zab@30',
  },
  'an addition, an update and a deletion of one key follow each other; a FIFO drops a deleted object': {
    steps: 'add foo@10, update foo@12, delete foo@15',
    fifo: '',
    deltaFifo: 'Added foo@10, Updated foo@12, Deleted foo@15',
    realFifo: 'Added foo@10 | Updated foo@12 | Deleted foo@15',
  },
  'only a RealFIFO holds the deletion of an object that is neither queued nor known': {
    steps: 'add foo@10, update bar@15, add qux@17, delete qux@18, delete baz@20',
    fifo: 'foo@10 | bar@15',
    deltaFifo: 'Added foo@10 | Updated bar@15 | Added qux@17, Deleted qux@18',
    realFifo: 'Added foo@10 | Updated bar@15 | Added qux@17 | Deleted qux@18 | Deleted baz@20',
  },
  'a list follows the queued changes, and a FIFO replaces them by it': {
    steps: 'add foo@10, add bar@1, replace 2 [foo@15]',
    fifo: 'foo@15',
    deltaFifo: 'Added foo@10, Sync foo@15 | Added bar@1, Deleted bar@1?',
    realFifo: 'Added foo@10 | Added bar@1 | Deleted bar@1? | Replaced foo@15',
    atomic: 'Added foo@10 | Added bar@1 | ReplacedAll 2 [foo@15]',
  },
  'a list keeps its order, and an object in it twice has the place of the first': {
    steps: 'replace 0 [b@1 a@1 b@2]',
    fifo: 'b@2 | a@1',
    deltaFifo: 'Sync b@1, Sync b@2 | Sync a@1',
    realFifo: 'Replaced b@1 | Replaced a@1 | Replaced b@2',
    atomic: 'ReplacedAll 0 [b@1 a@1 b@2]',
  },
  'a resync without known objects adds nothing, or one delta when it is atomic': {
    steps: 'add foo@1, resync',
    fifo: 'foo@1',
    deltaFifo: 'Added foo@1',
    realFifo: 'Added foo@1',
    atomic: 'Added foo@1 | SyncAll',
  },
  'of two final states in a row a DeltaFIFO keeps the first': {
    steps: 'add foo@5, delete foo@6, delete foo@7',
    deltaFifo: 'Added foo@5, Deleted foo@6',
    realFifo: 'Added foo@5 | Deleted foo@6 | Deleted foo@7',
  },
  'in a DeltaFIFO a final state replaces the tombstone before it': {
    known: 'foo@5',
    steps: 'replace 9 [], delete foo@6',
    deltaFifo: 'Deleted foo@6',
    realFifo: 'Deleted foo@5? | Deleted foo@6',
  },
  'a list deletes queued and known objects that it misses, but none with a queued deletion': {
    known: 'foo@5 bar@6 baz@7 qux@8',
    steps: 'delete baz@10, update bar@11, replace 0 [zab@1 foo@6]',
    deltaFifo: 'Deleted baz@10 | Updated bar@11, Deleted bar@11? | Sync zab@1 | Sync foo@6 | Deleted qux@8?',
    realFifo:
      'Deleted baz@10 | Updated bar@11 | Deleted bar@11? | Deleted qux@8? | Replaced zab@1 | Replaced foo@6',
  },
  'a list deletes an object that only earlier lists had': {
    steps: 'add o@1, replace 10 [o@1], replace 20 [o@1], replace 56 []',
    deltaFifo: 'Added o@1, Sync o@1, Sync o@1, Deleted o@1?',
    realFifo: 'Added o@1 | Replaced o@1 | Replaced o@1 | Deleted o@1?',
    atomic: 'Added o@1 | ReplacedAll 10 [o@1] | ReplacedAll 20 [o@1] | ReplacedAll 56 []',
  },
  'a list adds no second deletion to a queued one': {
    steps: 'add o@1, delete o@1, replace 0 []',
    deltaFifo: 'Added o@1, Deleted o@1',
    realFifo: 'Added o@1 | Deleted o@1',
  },
  'two lists delete an object once that is only queued': {
    steps: 'add o@1, replace 0 [], replace 0 []',
    deltaFifo: 'Added o@1, Deleted o@1?',
    realFifo: 'Added o@1 | Deleted o@1?',
  },
  'a list deletes an object that was deleted and created again while queued': {
    steps: 'add o@1, delete o@1, add o@2, replace 0 []',
    deltaFifo: 'Added o@1, Deleted o@1, Added o@2, Deleted o@2?',
    realFifo: 'Added o@1 | Deleted o@1 | Added o@2 | Deleted o@2?',
  },
  'bookmarks are queued in order with atomic events, and never otherwise': {
    steps: 'bookmark 123, replace 1234 []',
    fifo: '',
    deltaFifo: '',
    realFifo: '',
    atomic: 'Bookmark 123 | ReplacedAll 1234 []',
  },
};

/** Returns everything that the queue pops after the steps. */
async function poppedBy(queue: AnyQueue, steps: string): Promise<string> {
  perform(queue, steps);
  return await popAll(queue);
}

describe('a queue', () => {
  for (const [title, row] of Object.entries(ROWS)) {
    const { steps, fifo, atomic } = row;
    const options = row.known === undefined ? {} : { known: row.known };

    test(`C104 in a DeltaFIFO, ${title}`, async () => {
      assert.equal(await poppedBy(deltaFifo(options), steps), row.deltaFifo);
      assert.equal(await poppedBy(deltaFifo({ known: '', ...options }), steps), row.deltaFifo);
    });

    test(`C103 in a RealFIFO, ${title}`, async () => {
      assert.equal(await poppedBy(realFifo(options), steps), row.realFifo);
      if (atomic !== undefined) assert.equal(await poppedBy(atomicFifo(), steps), atomic);
    });

    if (fifo === undefined) continue;
    test(`in a FIFO, ${title}`, async () => {
      assert.equal(await poppedBy(QUEUES.FIFO(), steps), fifo);
    });
  }

  for (const [name, create] of Object.entries(QUEUES)) {
    test(`C104 puts a key that was popped behind all others (${name})`, async () => {
      const queue = create();
      perform(queue, 'add foo@10, add bar@1, add zab@30');
      await queue.pop(() => {});
      queue.add(object('foo@14'));
      assert.match(await popAll(queue), /bar@1 .*zab@30 .*foo@14/);
    });

    test(`C106 is unchanged, and not synced, by an object without a key (${name})`, () => {
      const failure = new Error('boom');
      const thrown = (): never => {
        throw failure;
      };
      for (const keyFunction of [thrown, ...[undefined, null, 7, {}].map((key) => () => key)]) {
        const queue = create({ keyFunction: keyFunction as KeyFunction<TestObject> });
        for (const call of [
          () => queue.add(object('foo@1')),
          () => queue.update(object('foo@1')),
          () => queue.delete(object('foo@1')),
          () => queue.replace([object('foo@1')], '1'),
        ]) {
          assert.throws(
            call,
            (error) => error instanceof KeyError && (keyFunction !== thrown || error.cause === failure),
          );
        }
        assert.deepEqual([queue.size, queue.hasSynced()], [0, false]);
      }
      const queue = create();
      assert.throws(() => queue.replace(objects('good@1 @1'), '1'), KeyError);
      assert.deepEqual([queue.size, queue.hasSynced()], [0, false]);
    });

    test(`takes the names of object properties as ordinary keys (${name})`, () => {
      const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
      const queue = create();
      for (const key of names) queue.add({ metadata: { name: key, resourceVersion: '1' } });
      assert.equal(queue.size, names.length);
    });
  }
});

/** Results of the transformer's test; `'` marks a transformed object. */
const TRANSFORMED: Readonly<Record<Exclude<QueueName, 'FIFO'>, string>> = {
  DeltaFIFO:
    "Sync old@1, Deleted old@2? | Added foo@10', Updated foo@12', Deleted foo@15' | " +
    "Added bar@11', Deleted bar@11'?, Added bar@16', Deleted bar@16'? | Sync new@3'",
  RealFIFO:
    "Sync old@1 | Added foo@10' | Added bar@11' | Updated foo@12' | Deleted foo@15' | Deleted old@1? | " +
    "Deleted bar@11'? | Added bar@16' | Deleted bar@16'? | Replaced new@3' | Deleted old@2?",
  'atomic RealFIFO':
    "SyncAll | Added foo@10' | Added bar@11' | Updated foo@12' | Deleted foo@15' | ReplacedAll 1 [] | " +
    "Added bar@16' | ReplacedAll 2 [new@3'] | Deleted old@2?",
};

describe('a queue of deltas', () => {
  for (const [name, expected] of Object.entries(TRANSFORMED)) {
    const create = QUEUES[name as QueueName];

    test(`transforms each received object once, and neither tombstones nor resyncs (${name})`, async () => {
      const seen: string[] = [];
      const transformer = (item: TestObject): TestObject => {
        seen.push(textOf(item));
        return object(`${textOf(item)}'`);
      };
      const queue = create({ transformer, known: 'old@1' });
      assert.equal(Reflect.get(queue, 'transformer'), transformer);
      perform(queue, 'resync, add foo@10, add bar@11, update foo@12, delete foo@15');
      perform(queue, 'replace 1 [], add bar@16, replace 2 [new@3]');
      queue.delete(tombstone('old', object('old@2')) as never);
      assert.deepEqual(seen, ['foo@10', 'bar@11', 'foo@12', 'foo@15', 'bar@16', 'new@3']);
      assert.equal(await popAll(queue), expected);
    });

    test(`C106 is unchanged, and not synced, by a transformer that throws or removes the key (${name})`, () => {
      const failure = new Error('no');
      const transformer = (item: TestObject): TestObject => {
        if (item.metadata.name === 'bad') throw failure;
        return item.metadata.name === 'renamed' ? object('@1') : item;
      };
      const queue = create({ transformer, known: 'x@1' });
      assert.throws(() => queue.add(object('bad@1')), failure);
      assert.throws(() => queue.update(object('bad@1')), failure);
      assert.throws(() => queue.replace(objects('good@1 bad@1'), '1'), failure);
      assert.throws(() => queue.replace(objects('good@1 renamed@1'), '1'), KeyError);
      if (name !== 'DeltaFIFO') assert.throws(() => queue.delete(object('bad@1')), failure);
      assert.deepEqual([queue.size, queue.hasSynced()], [0, false]);
    });
  }

  for (const queue of [deltaFifo(), realFifo(), atomicFifo()]) {
    test(`returns the key of an object, of a tombstone and of deltas (${queue.name})`, () => {
      const dead = tombstone<TestObject>('bar', undefined);
      assert.equal(queue.keyOf(object('foo@1')), 'foo');
      assert.equal(queue.keyOf(dead), 'bar');
      const deltas = objects('x@1 foo@1').map((item) => ({ type: 'Added', object: item }) as const);
      assert.equal(queue.keyOf(deltas), 'foo');
      assert.equal(queue.keyOf([{ type: 'Deleted', object: dead }]), 'bar');
      assert.throws(() => queue.keyOf([]), KeyError);
      assert.throws(() => queue.keyOf([{ type: 'SyncAll' }]), KeyError);
    });
  }
});
