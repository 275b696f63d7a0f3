/** Plain watches of ConfigMaps, at a kube-apiserver or at a mirror: they count what they receive and keep nothing. */
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';

/** A URL with its authority and token, or `http://localhost` on a Unix socket. */
export interface Server {
  readonly url: string;
  readonly ca?: string;
  readonly token?: string;
  readonly socketPath?: string;
}

interface SendOptions extends RequestOptions {
  readonly headers?: Readonly<Record<string, string>>;
}

export function send(server: Server, path: string, options: SendOptions = {}): ClientRequest {
  const { url, ca, token, socketPath } = server;
  const request = url.startsWith('https:') ? httpsRequest : httpRequest;
  return request(`${url}${path}`, {
    ...options,
    headers: {
      accept: 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...options.headers,
    },
    ...(ca === undefined ? {} : { ca }),
    ...(socketPath === undefined ? {} : { socketPath }),
  });
}

export async function answerTo(request: ClientRequest, body?: string): Promise<string> {
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  if (response.statusCode !== undefined && response.statusCode < 300) return text;
  throw new Error(`HTTP ${response.statusCode}: ${text}`);
}

/** The member of every object that has the number of its last change. */
const NUMBER = Buffer.from('"number":"');
const END_OF_TEXT = 0x22;

export class Watching {
  readonly #requests: ClientRequest[];
  readonly #opened: Promise<unknown>;
  #receivedBytes = 0;
  /** The time at which the first watch received each change, by its number; a chunk may have several. */
  readonly arrivalsMs = new Map<number, number>();

  constructor(server: Server, count: number) {
    const path = '/api/v1/configmaps?watch=1&resourceVersion=0';
    this.#requests = Array.from({ length: count }, () => send(server, path, { agent: false }));
    this.#opened = Promise.all(
      this.#requests.map(async (request, index) => {
        request.on('error', () => {});
        request.end();
        const [response] = (await once(request, 'response')) as [IncomingMessage];
        response.on('error', () => {});
        response.on('data', (chunk: Buffer) => this.#receive(chunk, index === 0));
      }),
    );
  }

  async opened(): Promise<void> {
    await this.#opened;
  }

  get receivedBytes(): number {
    return this.#receivedBytes;
  }

  close(): void {
    for (const request of this.#requests) request.destroy();
  }

  #receive(chunk: Buffer, isFirst: boolean): void {
    this.#receivedBytes += chunk.length;
    if (!isFirst) return;
    const nowMs = performance.now();
    for (let at = chunk.indexOf(NUMBER); at !== -1; at = chunk.indexOf(NUMBER, at + 1)) {
      const from = at + NUMBER.length;
      const number = Number(chunk.toString('latin1', from, chunk.indexOf(END_OF_TEXT, from)));
      this.arrivalsMs.set(number, nowMs);
    }
  }
}
