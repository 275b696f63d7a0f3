/** A bounded map whose values expire. When it is full, the least recently used value is evicted. */
import type { Clock } from '../../base/clock.ts';

interface Timed<Value> {
  readonly value: Value;
  readonly expiresAtMs: number;
}

export class ExpiringLru<Value> {
  readonly #clock: Clock;
  readonly #sizeMax: number;
  readonly #ttlMs: number;
  /** Entries, the least recently used first. */
  readonly #entries: Map<string, Timed<Value>> = new Map();

  constructor(sizeMax: number, ttlMs: number, clock: Clock) {
    this.#sizeMax = sizeMax;
    this.#ttlMs = ttlMs;
    this.#clock = clock;
  }

  /** Stores the value; its age begins at 0 again. */
  set(key: string, value: Value): void {
    this.#touch(key, { value, expiresAtMs: this.#clock.now() + this.#ttlMs });
    if (this.#entries.size <= this.#sizeMax) return;
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.#entries.delete(oldest);
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    if (this.#clock.now() > entry.expiresAtMs) {
      this.#entries.delete(key);
      return undefined;
    }
    this.#touch(key, entry);
    return entry.value;
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  /** Returns the unexpired entries, the least recently used first. It does not count as a use. */
  entries(): [key: string, value: Value][] {
    const now = this.#clock.now();
    const fresh: [string, Value][] = [];
    for (const [key, { value, expiresAtMs }] of this.#entries) {
      if (now <= expiresAtMs) fresh.push([key, value]);
    }
    return fresh;
  }

  #touch(key: string, entry: Timed<Value>): void {
    this.#entries.delete(key);
    this.#entries.set(key, entry);
  }
}
