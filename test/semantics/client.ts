/** The suite's own HTTP client, on node's alone, so that assertions see exactly the server's bytes. */
import { request as httpRequest } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { gunzipSync } from 'node:zlib';
import type { Target } from './target.ts';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: Body;
}

export interface RequestExtras {
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
  /** The encodings that the client accepts; the answer is inflated. */
  readonly encoding?: string;
  /** In place of the target's token; '' sends none. */
  readonly token?: string;
}

export class Client {
  readonly #target: Pick<Target, 'url' | 'token' | 'ca'>;

  constructor(target: Pick<Target, 'url' | 'token' | 'ca'>) {
    this.#target = target;
  }

  get(path: string, extras: RequestExtras = {}): Promise<Answer> {
    return this.request('GET', path, extras);
  }

  post(path: string, body: unknown): Promise<Answer> {
    return this.request('POST', path, { body });
  }

  put(path: string, body: unknown): Promise<Answer> {
    return this.request('PUT', path, { body });
  }

  mergePatch(path: string, body: unknown): Promise<Answer> {
    return this.request('PATCH', path, { body, contentType: 'application/merge-patch+json' });
  }

  delete(path: string, body?: unknown): Promise<Answer> {
    return this.request('DELETE', path, body === undefined ? {} : { body });
  }

  async request(method: string, path: string, extras: RequestExtras = {}): Promise<Answer> {
    const response = await this.#send(method, path, extras);
    const chunks: Buffer[] = [];
    for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    const text = (response.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString();
    const isJson = response.headers['content-type']?.startsWith('application/json') === true;
    const parsed = (isJson ? JSON.parse(text) : {}) as Body;
    return { status: response.statusCode ?? 0, headers: response.headers, text, body: parsed };
  }

  async watch(path: string, accept?: string, encoding?: string): Promise<WatchStream> {
    const extras = {
      ...(accept === undefined ? {} : { accept }),
      ...(encoding === undefined ? {} : { encoding }),
    };
    return new WatchStream(await this.#send('GET', path, extras));
  }

  #send(method: string, path: string, extras: RequestExtras): Promise<IncomingMessage> {
    const { url, ca } = this.#target;
    const token = extras.token ?? this.#target.token;
    const payload = typeof extras.body === 'string' ? extras.body : JSON.stringify(extras.body);
    const options: RequestOptions & { ca?: string } = {
      method,
      agent: false,
      headers: {
        // A real server pretty-prints for curl and browsers.
        'user-agent': 'kubeloom-semantics',
        accept: extras.accept ?? 'application/json',
        ...(extras.encoding === undefined ? {} : { 'accept-encoding': extras.encoding }),
        ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
        ...(payload === undefined
          ? {}
          : {
              'content-type': extras.contentType ?? 'application/json',
              // Node does not send it by itself with a DELETE.
              'content-length': Buffer.byteLength(payload),
            }),
      },
      ...(ca === '' ? {} : { ca }),
    };
    const send = url.startsWith('https:') ? httpsRequest : httpRequest;
    return new Promise((resolve, reject) => {
      const request = send(`${url}${path}`, options, resolve);
      request.on('error', reject);
      request.end(payload);
    });
  }
}

export interface Metadata {
  readonly name: string;
  readonly namespace?: string;
  readonly generateName?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  /** In lists. */
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

/** Any answer of the server: an object, a list or a Status. */
export interface Body {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: Metadata;
  readonly items: readonly Body[];
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: unknown;
  readonly message?: string;
  readonly reason?: string;
  readonly code?: number;
  readonly details?: Readonly<Record<string, unknown>>;
}

export interface WatchEvent {
  readonly type: string;
  readonly object: Body;
}

/**
 * A watch: `next()` waits for the next event, undefined is the end of the stream. Tests never wait for silence; they write
 * one more object and check that it is the next event.
 */
export class WatchStream {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** All events so far. */
  readonly events: WatchEvent[] = [];
  /** The beginning of a line without an end. */
  unfinished = '';
  /** `complete` by the rules of HTTP, or `broken` with its connection. */
  readonly ended: Promise<'complete' | 'broken'>;
  readonly #response: IncomingMessage;
  #read = 0;
  #isOver = false;
  #changed: () => void = () => {};

  constructor(response: IncomingMessage) {
    this.status = response.statusCode ?? 0;
    this.headers = response.headers;
    this.#response = response;
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => {
      const lines = (this.unfinished + chunk).split('\n');
      this.unfinished = lines.pop() ?? '';
      for (const line of lines) this.events.push(JSON.parse(line) as WatchEvent);
      this.#changed();
    });
    response.on('error', () => {});
    this.ended = new Promise((resolve) => {
      response.on('close', () => {
        this.#isOver = true;
        resolve(response.complete ? 'complete' : 'broken');
        this.#changed();
      });
    });
  }

  /** Resolves with all events so far when there are this many. */
  async count(wanted: number): Promise<readonly WatchEvent[]> {
    await this.#until(wanted);
    if (this.events.length >= wanted) return this.events;
    throw new Error(`the watch ended after ${this.events.length} of ${wanted} events`);
  }

  async next(): Promise<WatchEvent | undefined> {
    await this.#until(this.#read + 1);
    return this.events[this.#read++];
  }

  async take(count: number): Promise<readonly WatchEvent[]> {
    const from = this.#read;
    this.#read += count;
    return (await this.count(this.#read)).slice(from, from + count);
  }

  /** Returns all events to the end of the stream. */
  async rest(): Promise<readonly WatchEvent[]> {
    await this.ended;
    return this.events.slice(this.#read);
  }

  close(): void {
    this.#response.destroy();
  }

  async #until(count: number): Promise<void> {
    while (this.events.length < count && !this.#isOver)
      await new Promise<void>((resolve) => (this.#changed = resolve));
  }
}

/** Returns `ADDED a` or `BOOKMARK `, which most assertions compare. */
export function brief(event: WatchEvent | undefined): string {
  return event === undefined ? 'END' : `${event.type} ${event.object.metadata?.name ?? ''}`.trimEnd();
}
