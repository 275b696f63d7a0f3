/** The suite's own HTTP client, on node's alone, so that assertions see exactly the server's bytes. */

import { request as httpRequest } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Body } from './body.ts';
import type { Target } from './target.ts';
import { WatchStream } from './watch-stream.ts';

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
  /** In place of the target's token; '' sends none. */
  readonly token?: string;
}

export class Client {
  readonly #target: Target;

  constructor(target: Target) {
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
    const text = Buffer.concat(chunks).toString();
    const isJson = response.headers['content-type']?.startsWith('application/json') === true;
    const parsed = (isJson ? JSON.parse(text) : {}) as Body;
    return { status: response.statusCode ?? 0, headers: response.headers, text, body: parsed };
  }

  async watch(path: string, accept?: string): Promise<WatchStream> {
    return new WatchStream(await this.#send('GET', path, accept === undefined ? {} : { accept }));
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
