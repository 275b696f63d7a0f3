/** Both ends of a ring for sending records, and random values for their fields. */
import assert from 'node:assert/strict';
import type { Random } from '../../../../src/base/clock.ts';
import { DeltaKind } from '../../../../src/shared/record/delta.ts';
import { RingConsumer, RingMemory, RingProducer, allocateRing } from '../../../../src/shared/ring/ring.ts';
import { pick, wholeNumber } from '../ring/random.ts';

export class RecordRing {
  readonly producer: RingProducer;
  readonly consumer: RingConsumer;

  constructor(capacity: number = 2 ** 16) {
    const memory = new RingMemory(allocateRing(capacity, 2 ** 32 - 2 ** 13));
    this.producer = new RingProducer(memory);
    this.consumer = new RingConsumer(memory);
  }

  /** Publishes written records; the next one must have this type. */
  receive(type: number): RingConsumer {
    this.producer.publish();
    assert.ok(this.consumer.peek(), 'nothing arrived');
    assert.equal(this.consumer.type, type);
    return this.consumer;
  }

  /** Releases the record; its memory is then overwritten. */
  release(): void {
    this.consumer.advance();
    this.consumer.release();
    assert.equal(this.consumer.peek(), false, 'one record was written, two arrived');
  }
}

const ALL_KINDS = Object.values(DeltaKind) as [DeltaKind, ...DeltaKind[]];

export function anyKind(random: Random): DeltaKind {
  return pick(random, ALL_KINDS);
}

/** Returns a number below 2^31, its extremes more often than by chance. */
export function anyLength(random: Random): number {
  return random() < 0.4 ? pick(random, [0, 1, 2 ** 31 - 1]) : Math.floor(random() * 2 ** 31);
}

export function anyInformer(random: Random): number {
  return random() < 0.3 ? pick(random, [0, 1, 0x7fff, 0x8000, 0xffff]) : wholeNumber(random, 0, 0xffff);
}

export function anyFlags(random: Random): number {
  return wholeNumber(random, 0, 0xff);
}

export function anyBytes(random: Random, lengthMax: number): Buffer {
  const bytes = Buffer.alloc(wholeNumber(random, 0, lengthMax));
  for (let index = 0; index < bytes.length; index++) bytes[index] = wholeNumber(random, 0, 255);
  return bytes;
}
