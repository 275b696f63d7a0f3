/** A bounded map whose values expire: the least recently used one makes room. */
import type { Clock } from '../clock.ts';

interface Timed<Value> {
  readonly value: Value;
  readonly expiresAtMs: number;
}

export class ExpiringLru<Value> {
  readonly #clock: Clock;
  readonly #sizeMax: number;
  readonly #ttlMs: number;
  /** Least recently used first. */
  readonly #entries: Map<string, Timed<Value>> = new Map();

  constructor(sizeMax: number, ttlMs: number, clock: Clock) {
    this.#sizeMax = sizeMax;
    this.#ttlMs = ttlMs;
    this.#clock = clock;
  }

  /** Its time begins anew. */
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

  /** What has not expired, least recently used first. Counts as no use. */
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
