/** Asks the health door every second. A request that is under way when the next is due delays that one. */
import { setTimeout } from 'node:timers/promises';
import { nowMs } from '../e2e/members/history.ts';
import type { Scrape } from './window-record.ts';

const EVERY_MS = 1000;
/** Longer than any block of the main thread, on a slow machine. */
const TIMEOUT_MS = 60_000;
const PATHS = ['healthz', 'readyz', 'metrics'];

export class Scraper implements AsyncDisposable {
  #scrapes: Scrape[] = [];
  readonly #address: string;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(address: string) {
    this.#address = address;
    this.#running = this.#run();
  }

  /** Returns the scrapes since the last call, the newest of which the next call returns again: counters are compared with it. */
  take(): Scrape[] {
    const scrapes = this.#scrapes;
    this.#scrapes = scrapes.slice(-1);
    return scrapes;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const scrape = await this.#scrape();
      // A request that the end interrupts is none.
      if (!signal.aborted) this.#scrapes.push(scrape);
      await setTimeout(EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  async #scrape(): Promise<Scrape> {
    const statuses: Record<string, number> = {};
    let counters: ReadonlyMap<string, number> = new Map();
    for (const path of PATHS) {
      try {
        const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(TIMEOUT_MS)]);
        const response = await fetch(new URL(path, this.#address), { signal });
        const text = await response.text();
        statuses[path] = response.status;
        if (path === 'metrics') counters = countersOf(text);
      } catch {
        statuses[path] = 0;
      }
    }
    return { atMs: nowMs(), statuses, counters };
  }
}

/** Returns the counters of a text in the format of Prometheus, by series. */
export function countersOf(text: string): Map<string, number> {
  const counters = new Map<string, number>();
  for (const [, series = '', value] of text.matchAll(/^(\w+_(?:total|count|bucket)(?:\{.*\})?) (\S+)$/gm))
    counters.set(series, Number(value));
  return counters;
}
