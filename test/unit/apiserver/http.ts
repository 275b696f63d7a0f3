/** A small client for tests of the embedded server without TLS: JSON in, JSON out, and a watch as lines. */

import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';

export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly headers: Headers;
}

export async function call(url: string, method = 'GET', body?: unknown): Promise<Answer> {
  const init =
    body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
  const response = await fetch(url, { method, ...init });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: JSON.parse(text) as Record<string, unknown>,
  };
}

export interface Event {
  readonly type: string;
  readonly object: { readonly metadata: { readonly name: string; readonly resourceVersion: string } };
}

/** The end of a stream: complete by the rules of HTTP, or broken. */
export type Ending = 'complete' | 'broken';

/** A watch: its lines, the rest of an unfinished one, and its end. */
export class Lines {
  readonly events: Event[] = [];
  readonly ended: Promise<Ending>;
  rest = '';
  #changed: () => void = () => {};

  constructor(response: IncomingMessage) {
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => {
      const lines = (this.rest + chunk).split('\n');
      this.rest = lines.pop() ?? '';
      for (const line of lines) this.events.push(JSON.parse(line) as Event);
      this.#changed();
    });
    this.ended = new Promise((resolve) => {
      response.on('error', () => {});
      response.on('close', () => {
        resolve(response.complete ? 'complete' : 'broken');
        this.#changed();
      });
    });
  }

  /** Resolves when `wanted` events have arrived. */
  async count(wanted: number): Promise<Event[]> {
    while (this.events.length < wanted) await new Promise<void>((resolve) => (this.#changed = resolve));
    return this.events;
  }
}

export function watch(url: string): Promise<Lines> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent: false }, (response) => resolve(new Lines(response)));
    sent.on('error', reject);
    sent.end();
  });
}
