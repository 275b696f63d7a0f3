/** Asks the health door: the conductor does so at each strike, and when the fault is over. */
import { HANG_MS } from '../kit/hang.ts';
import type { Scrape } from './window-record.ts';

const PATHS = ['healthz', 'readyz', 'metrics'];

export class Scraper {
  #scrapes: Scrape[] = [];
  readonly #address: string;
  #last: Promise<void> = Promise.resolve();

  constructor(address: string) {
    this.#address = address;
  }

  /** Returns the scrapes since the last call, the newest of which the next call returns again: counters are compared with it. */
  take(): Scrape[] {
    const scrapes = this.#scrapes;
    this.#scrapes = scrapes.slice(-1);
    return scrapes;
  }

  /** One scrape at a time: counters are compared with the scrape before. */
  scrape(): Promise<void> {
    return (this.#last = this.#last.then(() => this.#scrape()));
  }

  async #scrape(): Promise<void> {
    const statuses: Record<string, number> = {};
    let counters: ReadonlyMap<string, number> = new Map();
    for (const path of PATHS) {
      try {
        const response = await fetch(new URL(path, this.#address), { signal: AbortSignal.timeout(HANG_MS) });
        const text = await response.text();
        statuses[path] = response.status;
        if (path === 'metrics') counters = countersOf(text);
      } catch {
        statuses[path] = 0;
      }
    }
    this.#scrapes.push({ statuses, counters });
  }
}

/** Returns the counters of a text in the format of Prometheus, by series. */
export function countersOf(text: string): Map<string, number> {
  const counters = new Map<string, number>();
  for (const [, series = '', value] of text.matchAll(/^(\w+_(?:total|count|bucket)(?:\{.*\})?) (\S+)$/gm))
    counters.set(series, Number(value));
  return counters;
}
