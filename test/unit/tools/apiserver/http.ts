/** A small client for tests of the embedded server without TLS and token: JSON in, JSON out, and watches. */
import { Client } from '../../../semantics/client.ts';
import type { WatchStream } from '../../../semantics/client.ts';

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

export function watch(url: string): Promise<WatchStream> {
  return new Client({ url, token: '', ca: '' }).watch('');
}
