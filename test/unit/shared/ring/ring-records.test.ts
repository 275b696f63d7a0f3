/** Tests of every record size at every alignment, of the full ring, and of errors at the two ends. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import {
  INSUFFICIENT_CAPACITY,
  RingConsumer,
  RingMemory,
  RingProducer,
  allocateRing,
  recordLength,
} from '../../../../src/shared/ring/ring.ts';
import { CAPACITY_MAX_BYTES } from '../../../../src/shared/ring/ring-layout.ts';
import { RingTwin } from './ring-twin.ts';

const CAPACITY = 1024;
const ASSERTION = { code: 'ERR_KUBELOOM_ASSERTION' };

function ends(startPosition = 0): { memory: RingMemory; producer: RingProducer; consumer: RingConsumer } {
  const memory = new RingMemory(allocateRing(CAPACITY, startPosition));
  return { memory, producer: new RingProducer(memory), consumer: new RingConsumer(memory) };
}

function put(producer: RingProducer, type: number, payloadBytes: number): void {
  producer.tryClaim(type, payloadBytes);
  producer.commit(payloadBytes);
}

/** Returns positions that cover every place in the ring on both sides of 2^31 and 2^32. */
function startPositions(): number[] {
  const starts: number[] = [];
  for (const wrap of [2 ** 31, 2 ** 32]) {
    for (let back = 8; back <= CAPACITY; back += 8) starts.push(wrap - back);
  }
  return starts;
}

describe('records of every size', () => {
  test('arrive complete from every place in the ring, before and across 2^31 and 2^32', () => {
    for (const start of startPositions()) {
      const twin = new RingTwin(CAPACITY, start);
      for (let size = 0; size <= ends().producer.payloadBytesMax; size++) {
        assert.ok(twin.write(1 + size, size), `size ${size} from ${start}`);
        twin.publish();
        assert.ok(twin.read());
        twin.release();
      }
      twin.drain();
    }
  });

  test('fill the ring to the last byte when their lengths divide it', () => {
    for (const size of [0, 8, 24, 56, 120]) {
      for (const start of [0, 2 ** 31 - CAPACITY, 2 ** 32 - CAPACITY]) {
        const { memory, producer, consumer } = ends(start);
        const fitting = CAPACITY / recordLength(size);
        for (let index = 0; index < fitting; index++) {
          assert.notEqual(producer.tryClaim(1, size), INSUFFICIENT_CAPACITY, `record ${index}`);
          producer.commit(size);
        }
        assert.equal(producer.canClaim(0), false);
        assert.equal(producer.tryClaim(1, 0), INSUFFICIENT_CAPACITY);
        producer.publish();
        assert.ok(consumer.hasRecord, 'a full ring must not look empty');
        for (let index = 0; index < fitting; index++) {
          assert.ok(consumer.peek());
          consumer.advance();
        }
        assert.equal(consumer.peek(), false);
        assert.equal(producer.canClaim(0), false, 'read is not released');
        assert.ok(consumer.release());
        assert.ok(producer.canClaim(size));
        assert.equal(memory.head.load(), memory.tail.load());
      }
    }
  });

  test('fit an empty ring at every position, also the largest', () => {
    for (const start of startPositions()) {
      const { producer } = ends(start);
      assert.ok(producer.canClaim(producer.payloadBytesMax));
      assert.notEqual(producer.tryClaim(1, producer.payloadBytesMax), INSUFFICIENT_CAPACITY);
    }
  });

  test('travel through the largest ring allowed', () => {
    const twin = new RingTwin(CAPACITY_MAX_BYTES, 2 ** 31 - 256);
    for (let size = 0; size < 64; size++) assert.ok(twin.write(1, size));
    twin.drain();
  });
});

describe('the producer', () => {
  test('keeps an abandoned claim out of the ring, padding included', () => {
    const { producer, consumer } = ends(2 ** 32 - 64);
    assert.notEqual(producer.tryClaim(7, 120), INSUFFICIENT_CAPACITY);
    // Filling the payload threw: no commit follows. The next published record must be readable.
    assert.equal(producer.publish(), false, 'a claim without a commit is nothing to publish');
    assert.equal(consumer.peek(), false);
    const offset = producer.tryClaim(8, 16);
    producer.words[offset >> 2] = 4711;
    producer.commit(16);
    assert.ok(producer.publish());
    assert.ok(consumer.peek());
    assert.equal(consumer.type, 8);
    assert.equal(consumer.words[consumer.offset >> 2], 4711);
    consumer.advance();
    assert.equal(consumer.peek(), false);
  });

  test('agrees in canClaim with tryClaim also while a claim is open', () => {
    const { producer } = ends(2 ** 32 - 64);
    for (let filled = 0; filled < 900; filled += 64) put(producer, 1, 56);
    producer.tryClaim(1, 8);
    for (let size = 0; size <= 120; size++) {
      assert.equal(producer.canClaim(size), producer.tryClaim(1, size) !== INSUFFICIENT_CAPACITY, `${size}`);
    }
  });

  test('rejects a record that can never fit, in tryClaim and canClaim alike', () => {
    const { producer } = ends();
    assert.equal(producer.payloadBytesMax, 248);
    assert.throws(() => producer.tryClaim(1, 249), ASSERTION);
    assert.throws(() => producer.canClaim(249), ASSERTION);
    assert.throws(() => producer.tryClaim(1, -1), ASSERTION);
    assert.throws(() => producer.tryClaim(1, Number.NaN), ASSERTION);
  });

  test('rejects the type that marks padding, and a commit that is longer than its claim', () => {
    const { producer } = ends();
    assert.throws(() => producer.tryClaim(0, 8), ASSERTION);
    producer.tryClaim(1, 8);
    assert.throws(() => producer.commit(9), ASSERTION);
    assert.throws(() => producer.commit(-1), ASSERTION);
  });

  test('rejects a commit without a claim, a second one, and one after a rejected claim', () => {
    const { producer } = ends();
    assert.throws(() => producer.commit(0), ASSERTION);
    for (let index = 0; index < 7; index++) {
      put(producer, 1, 120);
      assert.throws(() => producer.commit(0), ASSERTION, 'twice');
    }
    put(producer, 1, 0);
    assert.notEqual(producer.tryClaim(1, 0), INSUFFICIENT_CAPACITY);
    assert.equal(producer.tryClaim(1, 120), INSUFFICIENT_CAPACITY);
    assert.throws(() => producer.commit(0), ASSERTION, 'the rejected claim replaced the one before');
  });

  test('gives the bytes that a shorter commit did not use to the next record', () => {
    const { producer } = ends();
    const first = producer.tryClaim(1, 120);
    producer.commit(3);
    assert.equal(producer.tryClaim(1, 8), first + recordLength(3));
  });

  test('continues where a predecessor on the same ring stopped', () => {
    const { memory, producer, consumer } = ends(2 ** 31 - 24);
    put(producer, 3, 8);
    producer.publish();
    put(producer, 4, 8);
    // The first producer died with a committed, unpublished record: the ring does not contain it.
    const successor = new RingProducer(memory);
    put(successor, 5, 8);
    successor.publish();
    const types: number[] = [];
    for (; consumer.peek(); consumer.advance()) types.push(consumer.type);
    assert.deepEqual(types, [3, 5]);
  });
});

describe('the consumer', () => {
  test('rejects an advance over a record that it has not found', () => {
    const { producer, consumer } = ends();
    assert.throws(() => consumer.advance(), ASSERTION);
    for (let index = 0; index < 2; index++) put(producer, 1, 8);
    producer.publish();
    assert.ok(consumer.peek());
    consumer.advance();
    assert.throws(() => consumer.advance(), ASSERTION, 'twice for one peek');
    assert.ok(consumer.peek());
    consumer.advance();
    assert.equal(consumer.peek(), false);
  });

  test('releases nothing while a record is only peeked at, even behind padding', () => {
    const { producer, consumer, memory } = ends(2 ** 32 - 32);
    put(producer, 1, 120);
    producer.publish();
    assert.ok(consumer.peek());
    consumer.release();
    assert.ok((memory.tail.load() - memory.head.load()) >>> 0 >= recordLength(120));
    consumer.advance();
    assert.ok(consumer.release());
    assert.equal(memory.tail.load(), memory.head.load());
    assert.equal(consumer.release(), false, 'nothing is left to release');
  });

  test('reads again, after a restart, the records that its predecessor had not released', () => {
    const { memory, producer, consumer } = ends(2 ** 32 - 16);
    for (const type of [1, 2, 3]) {
      put(producer, type, 8);
    }
    producer.publish();
    consumer.peek();
    consumer.advance();
    consumer.release();
    consumer.peek();
    consumer.advance();
    const successor = new RingConsumer(memory);
    assert.ok(successor.peek());
    assert.equal(successor.type, 2);
  });
});

describe('allocateRing', () => {
  test('rejects a capacity that is not a power of two within the bounds, and a position that breaks the alignment', () => {
    for (const capacity of [0, 512, 1000, 1536, 2 ** 31, Number.NaN, -1024]) {
      assert.throws(() => allocateRing(capacity), ASSERTION, `${capacity}`);
    }
    for (const start of [4, 2 ** 32 - 4, 1.5, -8, 2 ** 32]) {
      assert.throws(() => allocateRing(CAPACITY, start), ASSERTION, `${start}`);
    }
  });
});
