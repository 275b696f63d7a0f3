/**
 * Compares the code of the bell with the protocol that bell-model.test.ts checks: every access to shared memory
 * is recorded, in order, and compared with the steps of the model.
 */
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import assert from 'node:assert/strict';
import { BELL_LINES, Bell } from '../../../../src/shared/ring/bell.ts';
import { RingMemory, RingProducer, allocateRing } from '../../../../src/shared/ring/ring.ts';
import { WORD_BYTES, allocateWords } from '../../../../src/shared/ring/word.ts';
import { BELL_PROTOCOL } from './bell-model.ts';

const FIRST_LINE = 3;
const BELL_INDEX = (FIRST_LINE * WORD_BYTES) / Int32Array.BYTES_PER_ELEMENT;
const PARKED_INDEX = ((FIRST_LINE + 1) * WORD_BYTES) / Int32Array.BYTES_PER_ELEMENT;
const BELL_BEFORE = -7;

type WaitResult = 'ok' | 'timed-out' | 'not-equal';

/** Returns a bell whose shared accesses are recorded in the notation of the model. */
function recordedBell(
  t: TestContext,
  waitResult: WaitResult = 'ok',
  onSecondWait: () => void = () => assert.fail('waited twice'),
) {
  let waits = 0;
  const words = new Int32Array(allocateWords(FIRST_LINE + BELL_LINES));
  words[BELL_INDEX] = BELL_BEFORE;
  const steps: string[] = [];
  const note = (name: string, array: unknown, index: number): void => {
    if (array === words)
      steps.push(`${name} ${index === BELL_INDEX ? 'bell' : index === PARKED_INDEX ? 'parked' : index}`);
  };
  const { load, store, add } = Atomics;
  t.mock.method(Atomics, 'load', (array: Int32Array, index: number) => {
    note('load', array, index);
    return load(array, index);
  });
  t.mock.method(Atomics, 'store', (array: Int32Array, index: number, value: number) => {
    if (array === words) steps.push(`${index === PARKED_INDEX ? 'parked' : index} = ${value}`);
    else steps.push('store tail');
    return store(array, index, value);
  });
  t.mock.method(Atomics, 'add', (array: Int32Array, index: number, value: number) => {
    note('add to', array, index);
    assert.equal(value, 1);
    return add(array, index, value);
  });
  t.mock.method(Atomics, 'notify', (array: Int32Array, index: number) => {
    note('notify', array, index);
    return 1;
  });
  t.mock.method(Atomics, 'wait', (array: Int32Array, index: number, seen: number, timeoutMs: number) => {
    note('wait on', array, index);
    assert.equal(seen, BELL_BEFORE, 'waits for a change since the bell was loaded');
    assert.equal(timeoutMs, 1234);
    if (waits++ === 0) return waitResult;
    onSecondWait();
    return 'ok';
  });
  t.mock.method(Atomics, 'waitAsync', (array: Int32Array, index: number, seen: number) => {
    note('wait on', array, index);
    assert.equal(seen, BELL_BEFORE, 'waits for a change since the bell was loaded');
    if (waitResult === 'not-equal') return { async: false, value: waitResult };
    return { async: true, value: Promise.resolve(waitResult) };
  });
  const looks = (...found: readonly boolean[]): (() => boolean) => {
    let look = 0;
    return () => {
      steps.push('look');
      return found[look++] ?? assert.fail('looked once too often');
    };
  };
  return { bell: new Bell(words, FIRST_LINE), words, steps, looks };
}

/** The model's steps in the notation of the recorder. */
const CONSUMER: readonly string[] = BELL_PROTOCOL.consumer.map((step) => step.replace(', or parked = 0', ''));
const SECOND_LOOK = CONSUMER.lastIndexOf('look');

const PARKS: readonly [string, (bell: Bell, hasWork: () => boolean) => unknown, readonly WaitResult[]][] = [
  ['that blocks', (bell, hasWork) => bell.park(hasWork, 1234), ['ok', 'not-equal', 'timed-out']],
  ['with an event loop', (bell, hasWork) => bell.parkAsync(hasWork), ['ok', 'not-equal']],
];

for (const [consumer, park, waitResults] of PARKS) {
  describe(`a consumer ${consumer} parks exactly as the model does`, () => {
    for (const waitResult of waitResults) {
      test(`when it finds nothing and the wait ends with ${waitResult}`, async (t) => {
        const { bell, steps, looks, words } = recordedBell(t, waitResult);
        const result = await park(bell, looks(false, false));
        assert.equal(result === false, waitResult === 'timed-out');
        assert.deepEqual(steps, CONSUMER);
        assert.equal(words[PARKED_INDEX], 0);
      });
    }

    test('when it finds work at the first look', async (t) => {
      const { bell, steps, looks } = recordedBell(t);
      assert.notEqual(await park(bell, looks(true)), false);
      assert.deepEqual(steps, CONSUMER.slice(0, CONSUMER.indexOf('look') + 1));
    });

    test('when it finds work at the second look', async (t) => {
      const { bell, steps, looks, words } = recordedBell(t);
      assert.notEqual(await park(bell, looks(false, true)), false);
      assert.deepEqual(steps, [...CONSUMER.slice(0, SECOND_LOOK + 1), 'parked = 0']);
      assert.equal(words[PARKED_INDEX], 0);
    });
  });
}

describe('work found without a wake-up', () => {
  test('was announced by a bell that came late: no wake-up was lost', (t) => {
    const ringLate = (): void => {
      assert.equal(recorded.words[PARKED_INDEX], 1, 'a bell from now on wakes the consumer');
      recorded.bell.ring();
    };
    const recorded = recordedBell(t, 'timed-out', ringLate);
    const { bell, steps, looks, words } = recorded;
    // The producer has been interrupted between its tail and its ring.
    assert.equal(bell.park(looks(false, false), 1234), false);
    assert.equal(bell.ringsWithin(1234), true);
    assert.deepEqual(steps.slice(-2), ['notify bell', 'parked = 0']);
    assert.equal(words[PARKED_INDEX], 0);
  });

  for (const isLost of [false, true]) {
    const title = isLost
      ? 'was not announced when the bell rang only before the park: a wake-up was lost'
      : 'was announced by a bell that rang in between';
    test(title, () => {
      const bell = new Bell(new Int32Array(allocateWords(FIRST_LINE + BELL_LINES)), FIRST_LINE);
      const never = (): boolean => false;
      if (isLost) bell.ring();
      assert.equal(bell.park(never, 0), false);
      if (!isLost) bell.ring();
      assert.equal(bell.ringsWithin(0), !isLost);
    });
  }
});

describe('a pause', () => {
  test('C325 does not begin when the bell rang since the pause before it', (t) => {
    const wait = t.mock.method(Atomics, 'wait');
    const bell = new Bell(new Int32Array(allocateWords(FIRST_LINE + BELL_LINES)), FIRST_LINE);
    const MINUTE_MS = 60_000;
    bell.ring();
    bell.pause(MINUTE_MS);
    bell.pause(0);
    bell.ring();
    bell.pause(MINUTE_MS);
    const results = wait.mock.calls.map(({ result }) => result);
    assert.deepEqual(results, ['not-equal', 'timed-out', 'not-equal']);
  });
});

describe('a producer publishes and rings exactly as the model does', () => {
  for (const parked of [1, 0]) {
    test(`when parked is ${parked}`, (t) => {
      const memory = new RingMemory(allocateRing(1024));
      const producer = new RingProducer(memory);
      producer.tryClaim(1, 8);
      producer.commit(8);
      const { bell, steps, words } = recordedBell(t);
      words[PARKED_INDEX] = parked;
      producer.publish();
      bell.ring();
      const expected = BELL_PROTOCOL.producer.map((step) => step.replace(' if parked', ''));
      assert.deepEqual(steps, parked ? expected : expected.filter((step) => step !== 'notify bell'));
      assert.equal(words[BELL_INDEX], BELL_BEFORE + 1);
      assert.equal(words[PARKED_INDEX], parked, 'only the consumer writes parked');
    });
  }
});
