/**
 * A log with its model: a list of extents in the order of their opening, and of the records that readers have not
 * passed. The model predicts the offset of each reservation. Independent of the model, the records show that no
 * byte is reserved twice.
 */
import assert from 'node:assert/strict';
import { BLOCK_BYTES } from '../../../../src/shared/log/log-layout.ts';
import { LOG_FULL, LogWriter, allocateLog } from '../../../../src/shared/log/log.ts';
import { compareU32 } from '../../../../src/shared/ring/word.ts';

interface ModelExtent {
  readonly firstBlock: number;
  readonly blocks: number;
  lastSequence: number | undefined;
}

interface LiveRecord {
  readonly sequence: number;
  readonly start: number;
  readonly end: number;
}

export class LogTwin {
  readonly writer: LogWriter;
  readonly blocks: number;
  /** Extents, oldest first; the last one may still be open. */
  readonly #extents: ModelExtent[] = [];
  #records: LiveRecord[] = [];
  #open: ModelExtent | undefined;
  #position = 0;
  sequence: number;
  gate: number;
  refusedCount = 0;
  writtenCount = 0;

  constructor(blocks: number, firstSequence: number) {
    this.blocks = blocks;
    this.sequence = firstSequence >>> 0;
    this.gate = this.sequence;
    this.writer = new LogWriter(allocateLog(blocks * BLOCK_BYTES), { load: () => this.gate });
  }

  /** Reserves `length` bytes; returns the offset, or LOG_FULL. */
  reserve(length: number): number {
    const expected = this.#predict(length);
    const offset = this.writer.reserve(length);
    assert.equal(offset, expected, `reservation of ${length} bytes`);
    this.#checkUsedBytes();
    if (offset === LOG_FULL) {
      this.refusedCount++;
      return offset;
    }
    assert.ok(offset >= 0 && offset + length <= this.writer.bytes.length, 'outside the log');
    for (const record of this.#records) {
      if (offset >= record.end || offset + length <= record.start) continue;
      assert.fail(
        `${offset}+${length} overlaps ${record.start}-${record.end} of sequence ${record.sequence}`,
      );
    }
    // Writes at both ends of the reservation: a record that overlaps there will find its bytes changed.
    this.writer.bytes[offset] = 0xee;
    this.writer.bytes[offset + length - 1] = 0xee;
    return offset;
  }

  /** Reserves `reserved` and seals `length` of it as the next record; false when the log is full. */
  write(reserved: number, length: number = reserved): boolean {
    const offset = this.reserve(reserved);
    if (offset === LOG_FULL) return false;
    this.sequence = (this.sequence + 1) >>> 0;
    const record = { sequence: this.sequence, start: offset, end: offset + length };
    this.#stamp(record);
    this.writer.seal(this.sequence, length);
    this.#records.push(record);
    this.#position = record.end;
    if (this.#open) this.#open.lastSequence = this.sequence;
    this.writtenCount++;
    return true;
  }

  /** Cancels a reservation; false when the log is full. */
  cancel(length: number): boolean {
    if (this.reserve(length) === LOG_FULL) return false;
    this.writer.cancel();
    return true;
  }

  /** Skips a sequence without bytes in the log: a control record. */
  skipSequence(): void {
    this.sequence = (this.sequence + 1) >>> 0;
  }

  /** Lets readers pass this number of sequences; they check every byte before. */
  advance(sequences: number): void {
    const behind = (this.sequence - this.gate) >>> 0;
    this.gate = (this.gate + Math.min(sequences, behind)) >>> 0;
    const isLive = (record: LiveRecord): boolean => compareU32(record.sequence, this.gate) > 0;
    for (const record of this.#records) if (!isLive(record)) this.#checkStamp(record);
    this.#records = this.#records.filter(isLive);
  }

  catchUp(): void {
    this.advance(2 ** 31 - 1);
    assert.equal(this.#records.length, 0);
  }

  #predict(length: number): number {
    const end = this.#open ? (this.#open.firstBlock + this.#open.blocks) * BLOCK_BYTES : 0;
    if (this.#open && this.#position + length <= end) return this.#position;
    // First in, first out: an extent is free when readers have passed it and all older ones.
    while (this.#extents[0] && this.#isPassed(this.#extents[0])) this.#extents.shift();
    if (this.#extents.length === 0) this.#open = undefined;
    const blocks = Math.ceil(length / BLOCK_BYTES);
    const isFree = (first: number): boolean =>
      this.#extents.every(
        (extent) => first + blocks <= extent.firstBlock || first >= extent.firstBlock + extent.blocks,
      );
    for (let first = 0; first + blocks <= this.blocks; first++) {
      if (!isFree(first)) continue;
      this.#open = { firstBlock: first, blocks, lastSequence: undefined };
      this.#extents.push(this.#open);
      this.#position = first * BLOCK_BYTES;
      return this.#position;
    }
    return LOG_FULL;
  }

  #isPassed(extent: ModelExtent): boolean {
    return extent.lastSequence === undefined || compareU32(extent.lastSequence, this.gate) <= 0;
  }

  #checkUsedBytes(): void {
    let blocks = 0;
    for (const extent of this.#extents) blocks += extent.blocks;
    assert.equal(this.writer.usedBytes, blocks * BLOCK_BYTES);
  }

  /** Writes the record's sequence at both of its ends (in one byte each, if it is short). */
  #stamp({ sequence, start, end }: LiveRecord): void {
    if (end > start) this.writer.bytes[start] = this.writer.bytes[end - 1] = sequence & 0xff;
  }

  #checkStamp({ sequence, start, end }: LiveRecord): void {
    for (const at of end > start ? [start, end - 1] : []) {
      assert.equal(this.writer.bytes[at], sequence & 0xff, `byte ${at} of sequence ${sequence}`);
    }
  }
}
