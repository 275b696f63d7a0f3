/**
 * Both ends of one ring in one thread, beside a model that is a plain array of records. Every step does the
 * same to both and checks everything that must hold between them.
 *
 * ```
 *   model:   read, not released │ published, not read │ committed, not published
 *            0 ….. readCount     ….. publishedCount    ….. records.length
 * ```
 */
import assert from 'node:assert/strict';
import type { Random } from '../../../../src/base/clock.ts';
import {
  INSUFFICIENT_CAPACITY,
  RingConsumer,
  RingMemory,
  RingProducer,
  allocateRing,
  recordLength,
} from '../../../../src/shared/ring/ring.ts';
import { RECORD_HEADER_BYTES } from '../../../../src/shared/ring/ring-layout.ts';
import { wholeNumber } from './random.ts';

interface ModelRecord {
  readonly type: number;
  readonly payload: Uint8Array;
  /** Offset at which the consumer found it; defined once it has been read. */
  offset: number;
}

export class RingTwin {
  readonly memory: RingMemory;
  readonly producer: RingProducer;
  readonly consumer: RingConsumer;
  readonly #records: ModelRecord[] = [];
  #publishedCount = 0;
  #readCount = 0;
  #nextByte = 1;
  refusedCount = 0;
  paddedCount = 0;
  readTotal = 0;

  constructor(capacity: number, startPosition: number) {
    this.memory = new RingMemory(allocateRing(capacity, startPosition));
    this.producer = new RingProducer(this.memory);
    this.consumer = new RingConsumer(this.memory);
  }

  /** Claims, fills and commits one record; false when the ring is full. `claimed` may exceed `size`. */
  write(type: number, size: number, claimed: number = size): boolean {
    const expected = this.producer.canClaim(claimed);
    const tailBefore = this.memory.tail.load();
    const offset = this.producer.tryClaim(type, claimed);
    assert.equal(offset !== INSUFFICIENT_CAPACITY, expected, `canClaim(${claimed}) and tryClaim disagree`);
    if (offset === INSUFFICIENT_CAPACITY) {
      this.refusedCount++;
      assert.ok(this.#records.length > 0, 'an empty ring refused a record');
      return false;
    }
    this.#checkPlace(offset, claimed);
    const payload = new Uint8Array(size);
    for (let index = 0; index < size; index++) payload[index] = this.#nextByte = (this.#nextByte % 255) + 1;
    this.producer.bytes.set(payload, offset);
    // Overwrites the rest of the claim, which only this claim may contain.
    this.producer.bytes.fill(0xee, offset + size, offset + claimed);
    this.producer.commit(size);
    this.#records.push({ type, payload, offset: -1 });
    assert.equal(this.memory.tail.load(), tailBefore, 'a commit was visible before publish');
    return true;
  }

  publish(): void {
    const isNew = this.#publishedCount < this.#records.length;
    assert.equal(this.producer.publish(), isNew);
    this.#publishedCount = this.#records.length;
    this.checkUnreleased();
  }

  /** Reads one record and compares it byte by byte; false when nothing is visible. */
  read(): boolean {
    const expected = this.#readCount < this.#publishedCount;
    assert.equal(this.consumer.hasRecord, expected, 'hasRecord disagrees with what was published');
    const positionBefore = this.memory.head.load();
    assert.equal(this.consumer.peek(), expected, 'peek disagrees with what was published');
    if (!expected) return false;
    const record = this.#records[this.#readCount];
    assert.ok(record);
    assert.ok(this.consumer.peek(), 'peek twice must find the same record');
    assert.equal(this.consumer.type, record.type);
    record.offset = this.consumer.offset;
    assertBytes(this.consumer.bytes, record);
    this.consumer.advance();
    this.#readCount++;
    this.readTotal++;
    assert.equal(this.memory.head.load(), positionBefore, 'advance released memory');
    return true;
  }

  release(): void {
    // The guarantee of `release`: until now, no byte of the read records has changed.
    this.checkUnreleased();
    const headBefore = this.memory.head.load();
    const didRelease = this.consumer.release();
    assert.equal(didRelease, this.memory.head.load() !== headBefore);
    assert.ok(this.#readCount === 0 || didRelease, 'records were read and nothing was released');
    this.#records.splice(0, this.#readCount);
    this.#publishedCount -= this.#readCount;
    this.#readCount = 0;
    this.#checkBacklog();
  }

  /** Performs one random step of one end. */
  step(random: Random): void {
    const choice = random();
    if (choice < 0.45) {
      const claimed = wholeNumber(random, 0, this.producer.payloadBytesMax);
      const size = random() < 0.2 ? wholeNumber(random, 0, claimed) : claimed;
      this.write(wholeNumber(random, 1, 0x7fffffff), size, claimed);
    } else if (choice < 0.6) this.publish();
    else if (choice < 0.9) this.read();
    else this.release();
  }

  drain(): void {
    this.publish();
    while (this.read());
    this.release();
    assert.equal(this.#records.length, 0);
    assert.equal(this.#backlogBytes, 0);
  }

  checkUnreleased(): void {
    for (let index = 0; index < this.#readCount; index++) {
      const record = this.#records[index];
      if (record) assertBytes(this.consumer.bytes, record);
    }
  }

  #checkPlace(offset: number, claimed: number): void {
    assert.equal(offset % 8, 0, 'payloads are aligned to 8 bytes');
    assert.ok(offset >= RECORD_HEADER_BYTES && offset + claimed <= this.memory.capacity, 'outside the ring');
    if (offset === RECORD_HEADER_BYTES) this.paddedCount++;
  }

  get #backlogBytes(): number {
    return (this.memory.tail.load() - this.memory.head.load()) >>> 0;
  }

  #checkBacklog(): void {
    let bytes = 0;
    for (const { payload } of this.#records.slice(0, this.#publishedCount))
      bytes += recordLength(payload.length);
    const padding = this.#backlogBytes - bytes;
    assert.ok(padding >= 0 && padding <= this.memory.capacity / 4, `backlog is off by ${padding} bytes`);
  }
}

function assertBytes(bytes: Uint8Array, record: ModelRecord): void {
  for (let index = 0; index < record.payload.length; index++) {
    if (bytes[record.offset + index] === record.payload[index]) continue;
    assert.fail(
      `byte ${index} of ${record.payload.length} at ${record.offset}: ${bytes[record.offset + index]}, written ${record.payload[index]}`,
    );
  }
}
