/** Slabs beside a model of private copies. */
import assert from 'node:assert/strict';
import type { Random } from '../../../../src/base/clock.ts';
import { EntryTable } from '../../../../src/replica/store/entry-table.ts';
import { Slabs } from '../../../../src/replica/store/slabs.ts';
import { SlabMemory } from '../../../../src/replica/store/store-memory.ts';
import { wholeNumber } from '../../shared/ring/random.ts';
import { at, factsOf, identityOf } from './objects.ts';

const FACTS = factsOf(identityOf(at('a', 1)), '');

/** Returns a row without bytes. */
export function newRow(table: EntryTable): number {
  return table.add(FACTS, 1, 0);
}

interface TestAllocation {
  readonly row: number;
  readonly expected: Buffer;
}

/** Overwrites released memory: no code may still read it. */
class ScribblingMemory extends SlabMemory {
  override give(memory: Buffer): boolean {
    memory.fill(0x58);
    return super.give(memory);
  }
}

/** Slabs compared with a model of private copies: every step changes both. */
export class SlabTwin {
  readonly #table: EntryTable = new EntryTable();
  readonly slabs: Slabs = new Slabs({ table: this.#table, memory: new ScribblingMemory() });
  readonly #allocations: TestAllocation[] = [];
  readonly #random: Random;
  readonly #source: Buffer;
  liveBytes = 0;

  /** @param sizeMax the largest size that `put` is called with */
  constructor(random: Random, sizeMax: number) {
    this.#random = random;
    this.#source = Buffer.allocUnsafe(sizeMax * 2);
    for (let at = 0; at < this.#source.length; at++) this.#source[at] = Math.floor(random() * 256);
  }

  get size(): number {
    return this.#allocations.length;
  }

  put(length: number): void {
    const start = wholeNumber(this.#random, 0, this.#source.length - length);
    const expected = Buffer.from(this.#source.subarray(start, start + length));
    const row = newRow(this.#table);
    this.slabs.put(row, this.#source, start, length);
    this.#allocations.push({ row, expected });
    this.liveBytes += length;
  }

  /** Returns the length of what was released. */
  releaseAny(): number {
    const at = wholeNumber(this.#random, 0, this.#allocations.length - 1);
    const allocation = this.#allocations[at];
    const last = this.#allocations.pop();
    assert.ok(allocation && last);
    if (allocation !== last) this.#allocations[at] = last;
    this.slabs.release(allocation.row);
    this.liveBytes -= allocation.expected.length;
    return allocation.expected.length;
  }

  check(): void {
    assert.equal(this.slabs.liveBytes, this.liveBytes);
    assert.ok(this.slabs.heldBytes >= this.liveBytes);
    for (const { row, expected } of this.#allocations) {
      const [offset, storedBytes] = [this.#table.offsetOf(row), this.#table.storedBytesOf(row)];
      assert.equal(storedBytes, expected.length);
      const bytes = this.slabs.slabOf(row).bytes.subarray(offset, offset + storedBytes);
      assert.ok(bytes.equals(expected), `${storedBytes} bytes at ${offset} are not what was put there`);
    }
  }
}
