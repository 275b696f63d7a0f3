/** Tests of FIFO: the cases of client-go's fifo_test.go. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import { tombstone } from '../../../../src/kube/tombstone.ts';
import { FIFO } from '../../../../src/client-go/queue/fifo.ts';
import { object, textOf, type TestObject } from './notation.ts';
import { perform, popAllObjects, type Step } from './scene.ts';

const CASES: readonly {
  readonly title: string;
  readonly steps: readonly Step[];
  readonly after: readonly string[];
}[] = [
  {
    title: 'the newest object of a key is popped once',
    steps: [
      ['add', 'foo@10'],
      ['update', 'foo@15'],
    ],
    after: ['foo@15'],
  },
  {
    title: 'a list replaces the queued objects',
    steps: [
      ['add', 'foo@10'],
      ['add', 'bar@1'],
      ['replace', '0', 'foo@15'],
    ],
    after: ['foo@15'],
  },
  {
    title: 'a list keeps its order, the last object of one key in the place of the first',
    steps: [['replace', '0', 'b@1 a@1 b@2']],
    after: ['b@2', 'a@1'],
  },
  {
    title: 'a deleted object is not popped',
    steps: [
      ['add', 'foo@10'],
      ['add', 'bar@1'],
      ['delete', 'foo@11'],
    ],
    after: ['bar@1'],
  },
  { title: 'a resync changes nothing', steps: [['add', 'foo@10'], ['resync']], after: ['foo@10'] },
];

describe('a FIFO', () => {
  for (const { title, steps, after } of CASES) {
    test(title, async () => {
      const queue = new FIFO<TestObject>();
      perform(queue, steps);
      assert.deepEqual(await popAllObjects(queue), after);
    });
  }

  test('no key overtakes another, and a popped one follows all others', async () => {
    const queue = new FIFO<TestObject>();
    perform(queue, [
      ['add', 'foo@10'],
      ['add', 'bar@1'],
      ['add', 'foo@11'],
      ['add', 'foo@13'],
      ['add', 'zab@30'],
    ]);
    assert.equal(textOf(await queue.pop(() => {})), 'foo@13');
    queue.add(object('foo@14'));
    assert.deepEqual(await popAllObjects(queue), ['bar@1', 'zab@30', 'foo@14']);
  });

  test('shows the queued objects', () => {
    const queue = new FIFO<TestObject>({ name: 'mine' });
    perform(queue, [
      ['add', 'foo@10'],
      ['add', 'bar@1'],
      ['update', 'foo@11'],
    ]);
    assert.equal(queue.name, 'mine');
    assert.equal(queue.size, 2);
    assert.deepEqual(queue.listKeys(), ['foo', 'bar']);
    assert.deepEqual(queue.list().map(textOf), ['foo@11', 'bar@1']);
    assert.equal(textOf(queue.get(object('foo@0'))!), 'foo@11');
    assert.equal(queue.getByKey('baz'), undefined);
    queue.delete(tombstone<TestObject>('foo', undefined));
    assert.equal(queue.getByKey('foo'), undefined);
  });

  test('is unchanged by a call with an object that has no key', () => {
    const queue = new FIFO<TestObject>();
    assert.throws(() => queue.add(object('@1')), { code: 'ERR_KUBELOOM_KEY' });
    assert.throws(() => queue.replace([object('a@1'), object('@1')], '1'), { code: 'ERR_KUBELOOM_KEY' });
    assert.equal(queue.size, 0);
    assert.equal(queue.hasSynced(), false);
  });
});
