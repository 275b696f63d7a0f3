/**
 * Tests every interleaving of the bell's protocol, and proves that the checker finds a lost wake-up. Stress tests
 * of the broken protocol passed 1.4 million waits; the checker finds the fault in milliseconds.
 */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { BELL_PROTOCOL, BROKEN_PROTOCOL, check } from './bell-model.ts';
import type { ConsumerStep, ProducerStep, Protocol } from './bell-model.ts';

const WORKLOADS: readonly (readonly number[])[] = [[1], [2], [3], [5], [1, 1], [1, 2], [2, 2], [3, 3]];
/** Enough for every broken variant below; the correct variants are searched exhaustively. */
const SMALL_WORKLOADS: readonly (readonly number[])[] = [[1], [2], [3], [1, 1], [1, 2]];

function firstLoss(protocol: Protocol): readonly string[] | undefined {
  for (const publishes of SMALL_WORKLOADS) {
    const { lost } = check(protocol, publishes);
    if (lost) return lost;
  }
  return undefined;
}

function withConsumer(...consumer: ConsumerStep[]): Protocol {
  return { consumer, producer: BELL_PROTOCOL.producer };
}

function withProducer(...producer: ProducerStep[]): Protocol {
  return { consumer: BELL_PROTOCOL.consumer, producer };
}

describe('the bell protocol', () => {
  for (const publishes of WORKLOADS) {
    test(`loses no wake-up in any interleaving of ${publishes.join(' and ')} publishes`, (t) => {
      const result = check(BELL_PROTOCOL, publishes);
      t.diagnostic(`${result.stateCount} states, the consumer asleep in ${result.asleepCount}`);
      assert.equal(result.lost, undefined, result.lost?.join('\n'));
      assert.ok(result.asleepCount > 0, 'the consumer never slept: nothing was proved');
    });
  }

  test('is safe by either of two guards: the bell loaded before looking, or the look after parked = 1', () => {
    const withoutSecondLook = withConsumer('load bell', 'look', 'parked = 1', 'wait on bell', 'parked = 0');
    const flagBeforeBell = withProducer('store tail', 'load parked', 'add to bell', 'notify bell if parked');
    assert.equal(firstLoss(withoutSecondLook), undefined);
    assert.equal(firstLoss(flagBeforeBell), undefined);
    const withNeither = { consumer: withoutSecondLook.consumer, producer: flagBeforeBell.producer };
    assert.ok(firstLoss(withNeither), 'without both guards a wake-up must be lost');
  });
});

describe('the checker finds the lost wake-up', () => {
  test('when the producer clears the flag and the consumer waits on the tail', () => {
    assert.equal(check(BROKEN_PROTOCOL, [1]).lost, undefined, 'one record alone hides the fault');
    assert.deepEqual(check(BROKEN_PROTOCOL, [2]).lost, [
      'start',
      'producer 0: store tail',
      'consumer: look at 0: takes up to 1',
      'consumer: look at 0: nothing',
      'consumer: parked = 1',
      'consumer: look at 0: nothing',
      'producer 0: load parked',
      'producer 0: clear parked if parked',
      'producer 0: notify tail if parked',
      'consumer: wait on tail: falls asleep',
      'producer 0: store tail',
      'producer 0: load parked',
      'producer 0: clear parked if parked',
      'producer 0: notify tail if parked',
    ]);
  });

  const BROKEN: readonly [string, Protocol][] = [
    [
      'the bell is loaded only just before waiting',
      withConsumer('look', 'parked = 1', 'look, or parked = 0', 'load bell', 'wait on bell', 'parked = 0'),
    ],
    [
      'the flag is cleared before waiting',
      withConsumer('load bell', 'look', 'parked = 1', 'look, or parked = 0', 'parked = 0', 'wait on bell'),
    ],
    ['the flag is never set', withConsumer('load bell', 'look', 'wait on bell')],
    [
      'the producer rings before it stores the tail',
      withProducer('add to bell', 'load parked', 'notify bell if parked', 'store tail'),
    ],
    ['the producer does not notify', withProducer('store tail', 'add to bell', 'load parked')],
  ];
  for (const [fault, protocol] of BROKEN) test(`when ${fault}`, () => assert.ok(firstLoss(protocol)));
});
