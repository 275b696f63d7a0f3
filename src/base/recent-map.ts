/** A map with a bound: it forgets the entry that was used least recently. */
export class RecentMap<Value> {
  readonly #entries: Map<string, Value> = new Map();
  readonly #entriesMax: number;

  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax;
  }

  get(key: string): Value | undefined {
    return this.#entries.get(key);
  }

  set(key: string, value: Value): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#entriesMax) return;
    const [oldest = ''] = this.#entries.keys();
    this.#entries.delete(oldest);
  }
}
