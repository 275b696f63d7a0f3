/**
 * A single-producer, single-consumer ring of variable-length records in shared memory: the memory itself.
 * `RingProducer` and `RingConsumer` are the two ends; each is used by one thread only.
 */
import { KubeloomError } from '../../base/errors.ts';
import {
  CAPACITY_MAX_BYTES,
  CAPACITY_MIN_BYTES,
  DATA_OFFSET,
  HEAD_LINE,
  RECORD_ALIGNMENT,
  TAIL_LINE,
} from './layout.ts';
import { Word } from './word.ts';

/** Views of one ring. To share it, structured-clone the `buffer`, not this object. */
export class RingMemory {
  readonly buffer: SharedArrayBuffer;
  readonly capacity: number;
  readonly tail: Word;
  readonly head: Word;
  readonly words: Int32Array;
  readonly bytes: Uint8Array;

  constructor(buffer: SharedArrayBuffer) {
    this.buffer = buffer;
    this.capacity = buffer.byteLength - DATA_OFFSET;
    const header = new Int32Array(buffer, 0, DATA_OFFSET / Int32Array.BYTES_PER_ELEMENT);
    this.tail = new Word(header, TAIL_LINE);
    this.head = new Word(header, HEAD_LINE);
    this.words = new Int32Array(buffer, DATA_OFFSET);
    this.bytes = new Uint8Array(buffer, DATA_OFFSET);
  }
}

/**
 * @param capacity bytes, a power of two
 * @param startPosition initial value of both positions; tests start near the wrap of u32
 */
export function allocateRing(capacity: number, startPosition = 0): SharedArrayBuffer {
  const isPowerOfTwo = Number.isInteger(Math.log2(capacity));
  if (!isPowerOfTwo || capacity < CAPACITY_MIN_BYTES || capacity > CAPACITY_MAX_BYTES) {
    throw new KubeloomError(
      'ERR_KUBELOOM_OPTION',
      `ring capacity must be a power of two between ${CAPACITY_MIN_BYTES} and ${CAPACITY_MAX_BYTES} bytes, got ${capacity}`,
    );
  }
  if (!(startPosition >= 0 && startPosition < 2 ** 32 && startPosition % RECORD_ALIGNMENT === 0)) {
    throw new KubeloomError(
      'ERR_KUBELOOM_OPTION',
      `ring start position must be a u32 and a multiple of ${RECORD_ALIGNMENT}, got ${startPosition}`,
    );
  }
  const memory = new RingMemory(new SharedArrayBuffer(DATA_OFFSET + capacity));
  memory.tail.store(startPosition);
  memory.head.store(startPosition);
  return memory.buffer;
}
