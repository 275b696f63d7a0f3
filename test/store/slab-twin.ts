/**
 * Slabs beside a model that is a list of private copies: every step does the same to both, and a check
 * compares them byte for byte.
 */
import assert from 'node:assert/strict';

import type { Random } from '../../src/clock.ts';
import { SlabMemory } from '../../src/store/slab-memory.ts';
import { Slabs } from '../../src/store/slabs.ts';
import type { Located } from '../../src/store/slabs.ts';
import { wholeNumber } from '../ring/random.ts';

interface Tenant extends Located {
  readonly expected: Buffer;
}

/** Writes over what is given back: nobody may still read it. */
class ScribblingMemory extends SlabMemory {
  override give(memory: Buffer): void {
    memory.fill(0x58);
    super.give(memory);
  }
}

export class SlabTwin {
  readonly slabs: Slabs = new Slabs(new ScribblingMemory());
  readonly #tenants: Tenant[] = [];
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
    return this.#tenants.length;
  }

  put(length: number): void {
    const start = wholeNumber(this.#random, 0, this.#source.length - length);
    const expected = Buffer.from(this.#source.subarray(start, start + length));
    const tenant: Tenant = { slab: undefined, offset: 0, storedBytes: 0, expected };
    this.slabs.put(tenant, this.#source, start, length);
    this.#tenants.push(tenant);
    this.liveBytes += length;
  }

  releaseAny(): void {
    const at = wholeNumber(this.#random, 0, this.#tenants.length - 1);
    const tenant = this.#tenants[at];
    const last = this.#tenants.pop();
    assert.ok(tenant && last);
    if (tenant !== last) this.#tenants[at] = last;
    this.slabs.release(tenant);
    this.liveBytes -= tenant.expected.length;
  }

  check(): void {
    assert.equal(this.slabs.liveBytes, this.liveBytes);
    assert.ok(this.slabs.heldBytes >= this.liveBytes);
    for (const { slab, offset, storedBytes, expected } of this.#tenants) {
      assert.equal(storedBytes, expected.length);
      const bytes = slab?.bytes.subarray(offset, offset + storedBytes);
      assert.ok(bytes?.equals(expected), `${storedBytes} bytes at ${offset} are not what was put there`);
    }
  }
}
