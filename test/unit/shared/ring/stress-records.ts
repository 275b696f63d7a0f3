/**
 * The records of the thread tests: record n is a function of n and the seed, so the consumer can check each byte
 * without communication.
 */
import type { RingConsumer, RingProducer } from '../../../../src/shared/ring/ring.ts';

/** Parameters of both threads. */
export interface StressPlan {
  readonly ring: SharedArrayBuffer;
  /** Two bells: the producer rings the first (data), the consumer the second (space). */
  readonly bells: SharedArrayBuffer;
  readonly recordCount: number;
  readonly payloadBytesMax: number;
  readonly seed: number;
  /** The producer waits for an empty ring after every `drainEvery` records: both ends park repeatedly. */
  readonly drainEvery: number;
  readonly parkTimeoutMs: number;
}

export interface StressTask {
  readonly role: 'producer' | 'consumer';
  readonly plan: StressPlan;
}

export interface StressReport {
  readonly records: number;
  readonly bytes: number;
  /** Number of parks that waited for the bell. */
  readonly parks: number;
  /** Number of parks that only the timeout ended although there was work: lost wake-ups. */
  readonly lostWakeUps: number;
}

const HEADER_BYTES = 8;

/** Returns a well mixed 32-bit number for record `n`, the source of its size, type and contents. */
export function mixed(n: number, seed: number): number {
  let value = Math.imul(n ^ seed, 0x9e3779b1);
  value = Math.imul(value ^ (value >>> 15), 0x85ebca6b);
  return (value ^ (value >>> 13)) >>> 0;
}

export function payloadSize(n: number, plan: StressPlan): number {
  return HEADER_BYTES + (mixed(n, plan.seed) % (plan.payloadBytesMax - HEADER_BYTES + 1));
}

function recordType(n: number, plan: StressPlan): number {
  return 1 + (mixed(n, ~plan.seed) & 0xffff);
}

/** Claims, fills and commits record `n`; false when the ring is full. */
export function writeStressRecord(producer: RingProducer, n: number, plan: StressPlan): boolean {
  const size = payloadSize(n, plan);
  const at = producer.tryClaim(recordType(n, plan), size);
  if (at < 0) return false;
  producer.words[at >> 2] = n;
  producer.words[(at >> 2) + 1] = size;
  const first = mixed(n, plan.seed);
  for (let index = HEADER_BYTES; index < size; index++) producer.bytes[at + index] = first + index;
  producer.commit(size);
  return true;
}

/** Throws unless the record that `peek` found is the complete record `n`. Returns its size. */
export function checkStressRecord(consumer: RingConsumer, n: number, plan: StressPlan): number {
  const at = consumer.offset;
  const size = payloadSize(n, plan);
  const found = consumer.words[at >> 2];
  if (found !== n) throw new Error(`record ${found} where ${n} was due`);
  if (consumer.type !== recordType(n, plan)) throw new Error(`record ${n} has type ${consumer.type}`);
  if (consumer.words[(at >> 2) + 1] !== size) throw new Error(`record ${n} has a wrong size`);
  const first = mixed(n, plan.seed);
  for (let index = HEADER_BYTES; index < size; index++) {
    const byte = (first + index) & 0xff;
    if (consumer.bytes[at + index] !== byte) throw new Error(`byte ${index} of record ${n} is wrong`);
  }
  return size;
}
