/** Tests of Heap: the cases of client-go's heap_test.go. Versions are priorities, the lowest first. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import { Heap } from '../../../../src/client-go/queue/heap.ts';
import { seededRandom } from '../../shared/ring/random.ts';
import { object, objects, textOf, type TestObject } from './notation.ts';

function heapOf(text: string): Heap<TestObject> {
  const heap = new Heap<TestObject>(
    ({ metadata }) => {
      if (metadata.name === '') throw new Error('no name');
      return metadata.name;
    },
    (first, second) => Number(first.metadata.resourceVersion) < Number(second.metadata.resourceVersion),
  );
  heap.bulkAdd(objects(text));
  return heap;
}

/** Returns the items in the order of the pops: `d@1 b@3`. */
async function popAll(heap: Heap<TestObject>): Promise<string> {
  const popped: string[] = [];
  while (heap.size > 0) popped.push(textOf(await heap.pop()));
  return popped.join(' ');
}

type Case = readonly [title: string, change: (heap: Heap<TestObject>) => void, after: string];

/** All cases begin with a@5 b@3 c@4 d@1. */
const CASES: readonly Case[] = [
  ['items come out by priority', () => {}, 'd@1 b@3 c@4 a@5'],
  ['an added item takes its place', (heap) => heap.add(object('e@2')), 'd@1 e@2 b@3 c@4 a@5'],
  ['adding a key again changes its item and its place', (heap) => heap.add(object('a@0')), 'a@0 d@1 b@3 c@4'],
  ['an update moves an item down', (heap) => heap.update(object('d@9')), 'b@3 c@4 a@5 d@9'],
  ['an update of an unknown key adds it', (heap) => heap.update(object('e@2')), 'd@1 e@2 b@3 c@4 a@5'],
  ['adding if not present keeps the old', (heap) => heap.addIfNotPresent(object('a@0')), 'd@1 b@3 c@4 a@5'],
  ['adding if not present adds a new', (heap) => heap.addIfNotPresent(object('e@0')), 'e@0 d@1 b@3 c@4 a@5'],
  ['a deletion goes by key', (heap) => heap.delete(object('b@77')), 'd@1 c@4 a@5'],
  ['the first can be deleted', (heap) => heap.delete(object('d@1')), 'b@3 c@4 a@5'],
  ['adding many updates existing items', (heap) => heap.bulkAdd(objects('b@8 e@2')), 'd@1 e@2 c@4 a@5 b@8'],
];

describe('a heap', () => {
  for (const [title, change, after] of CASES) {
    test(`C111 ${title}`, async () => {
      const heap = heapOf('a@5 b@3 c@4 d@1');
      change(heap);
      assert.equal(heap.size, after.split(' ').length);
      assert.equal(textOf(heap.peek()!), after.split(' ')[0]);
      assert.equal(await popAll(heap), after);
      assert.equal(heap.peek(), undefined);
    });
  }

  test('C111 agrees with sorting through random adds, updates, deletions and pops', async () => {
    const random = seededRandom(7);
    const heap = heapOf('');
    const model = new Map<string, number>();
    for (let step = 0; step < 3000; step++) {
      const name = `n${Math.floor(random() * 60)}`;
      const priority = Math.floor(random() * 1000);
      const choice = random();
      if (choice < 0.6) {
        heap.add(object(`${name}@${priority}`));
        model.set(name, priority);
      } else if (choice < 0.8) {
        if (model.delete(name)) heap.delete(object(`${name}@0`));
        else assert.throws(() => heap.delete(object(`${name}@0`)), { code: 'ERR_KUBELOOM_NOT_FOUND' });
      } else if (model.size > 0) {
        const { metadata } = await heap.pop();
        assert.equal(Number(metadata.resourceVersion), Math.min(...model.values()));
        assert.equal(model.get(metadata.name), Number(metadata.resourceVersion));
        model.delete(metadata.name);
      }
      assert.equal(heap.size, model.size);
    }
  });

  test('a heap returns its content without popping it', () => {
    const heap = heapOf('b@2 a@1');
    assert.deepEqual(heap.listKeys(), ['b', 'a']);
    assert.deepEqual(heap.list().map(textOf), ['b@2', 'a@1']);
    assert.equal(textOf(heap.get(object('a@9'))!), 'a@1');
    assert.equal(textOf(heap.getByKey('b')!), 'b@2');
    assert.equal(heap.getByKey('c'), undefined);
  });

  test('a heap adds many items or none', () => {
    const heap = heapOf('a@1');
    assert.throws(() => heap.bulkAdd(objects('b@1 @2')), { code: 'ERR_KUBELOOM_KEY' });
    assert.deepEqual(heap.listKeys(), ['a']);
  });

  test('a heap rejects deleting a missing item', () => {
    assert.throws(() => heapOf('').delete(object('a@1')), { code: 'ERR_KUBELOOM_NOT_FOUND' });
  });

  test('a closed heap rejects additions, and still returns its items', async () => {
    const heap = heapOf('b@2 a@1');
    heap.close();
    assert.equal(heap.isClosed, true);
    const closed = { code: 'ERR_KUBELOOM_QUEUE_CLOSED' };
    for (const add of [
      () => heap.add(object('c@1')),
      () => heap.update(object('a@1')),
      () => heap.addIfNotPresent(object('c@1')),
      () => heap.bulkAdd([]),
    ]) {
      assert.throws(add, closed);
    }
    assert.equal(await popAll(heap), 'a@1 b@2');
    await assert.rejects(heap.pop(), closed);
  });
});
