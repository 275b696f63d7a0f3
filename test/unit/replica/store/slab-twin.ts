/** Slabs compared with a model of private copies: every step changes both, and a check compares them byte for byte. */
import assert from 'node:assert/strict';

import type { Random } from '../../../../src/base/clock.ts';
import { SlabMemory } from '../../../../src/replica/store/store-memory.ts';
import { Slabs } from '../../../../src/replica/store/slabs.ts';
import type { SlabAllocation } from '../../../../src/replica/store/slabs.ts';
import { wholeNumber } from '../../shared/ring/random.ts';

interface TestAllocation extends SlabAllocation {
  readonly expected: Buffer;
}

/** Overwrites released memory: no code may still read it. */
class ScribblingMemory extends SlabMemory {
  override give(memory: Buffer): void {
    memory.fill(0x58);
    super.give(memory);
  }
}

export class SlabTwin {
  readonly slabs: Slabs = new Slabs(new ScribblingMemory());
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
    const allocation: TestAllocation = { slab: undefined, offset: 0, storedBytes: 0, expected };
    this.slabs.put(allocation, this.#source, start, length);
    this.#allocations.push(allocation);
    this.liveBytes += length;
  }

  releaseAny(): void {
    const at = wholeNumber(this.#random, 0, this.#allocations.length - 1);
    const allocation = this.#allocations[at];
    const last = this.#allocations.pop();
    assert.ok(allocation && last);
    if (allocation !== last) this.#allocations[at] = last;
    this.slabs.release(allocation);
    this.liveBytes -= allocation.expected.length;
  }

  check(): void {
    assert.equal(this.slabs.liveBytes, this.liveBytes);
    assert.ok(this.slabs.heldBytes >= this.liveBytes);
    for (const { slab, offset, storedBytes, expected } of this.#allocations) {
      assert.equal(storedBytes, expected.length);
      const bytes = slab?.bytes.subarray(offset, offset + storedBytes);
      assert.ok(bytes?.equals(expected), `${storedBytes} bytes at ${offset} are not what was put there`);
    }
  }
}
