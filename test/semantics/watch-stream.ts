/**
 * A watch of the suite: `next()` waits for the next event, undefined is the end of the stream. Tests never
 * wait for silence; they write one more object and check that it is the next event.
 */

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Body } from './body.ts';

export interface WatchEvent {
  readonly type: string;
  readonly object: Body;
}

export class WatchStream {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly #response: IncomingMessage;
  readonly #events: WatchEvent[] = [];
  #rest = '';
  #ended = false;
  #complete = false;
  #wake: () => void = () => {};

  constructor(response: IncomingMessage) {
    this.status = response.statusCode ?? 0;
    this.headers = response.headers;
    this.#response = response;
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => this.#receive(chunk));
    response.on('error', () => this.#end());
    response.on('close', () => this.#end());
  }

  /** True when the stream ended by the rules of HTTP, not by a broken connection. */
  get complete(): boolean {
    return this.#complete;
  }

  async next(): Promise<WatchEvent | undefined> {
    while (this.#events.length === 0 && !this.#ended) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    return this.#events.shift();
  }

  async take(count: number): Promise<WatchEvent[]> {
    const events: WatchEvent[] = [];
    while (events.length < count) {
      const event = await this.next();
      if (event === undefined) throw new Error(`the watch ended after ${events.length} of ${count} events`);
      events.push(event);
    }
    return events;
  }

  /** Returns all events to the end of the stream. */
  async rest(): Promise<WatchEvent[]> {
    const events: WatchEvent[] = [];
    for (let event = await this.next(); event !== undefined; event = await this.next()) events.push(event);
    return events;
  }

  close(): void {
    this.#response.destroy();
  }

  #receive(chunk: string): void {
    const lines = (this.#rest + chunk).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#events.push(JSON.parse(line) as WatchEvent);
    this.#wake();
  }

  #end(): void {
    this.#ended = true;
    this.#complete = this.#response.complete;
    this.#wake();
  }
}

/** Returns `ADDED a` or `BOOKMARK `, which most assertions compare. */
export function brief(event: WatchEvent | undefined): string {
  return event === undefined ? 'END' : `${event.type} ${event.object.metadata?.name ?? ''}`.trimEnd();
}
