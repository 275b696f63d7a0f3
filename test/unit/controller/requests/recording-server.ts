/** A server that records whole requests of an ObjectClient and answers as a test's script says. */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { ObjectClient } from '../../../../src/controller/index.ts';
import type { ObjectClientOptions } from '../../../../src/controller/index.ts';

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly type: string | undefined;
  /** The body, parsed; undefined without a body. */
  readonly body: unknown;
}

export interface Answer {
  readonly status?: number;
  /** Sent as JSON; text unchanged. `undefined` cuts the connection. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string | string[]>>;
}

/** Returns the answer to the n-th request, from 0. */
export type Script = (request: RecordedRequest, number: number) => Answer;

export class RecordingServer implements AsyncDisposable {
  readonly requests: RecordedRequest[] = [];
  readonly #http = createServer((message, response) => void this.#serve(message, response));
  readonly #script: Script;

  private constructor(script: Script) {
    this.#script = script;
  }

  static async start(script: Script): Promise<RecordingServer> {
    const server = new RecordingServer(script);
    await new Promise<void>((resolve) => server.#http.listen(0, '127.0.0.1', resolve));
    return server;
  }

  client(options: ObjectClientOptions = {}): ObjectClient {
    const { port } = this.#http.address() as AddressInfo;
    return new ObjectClient({ server: `http://127.0.0.1:${port}` }, options);
  }

  get methods(): string[] {
    return this.requests.map(({ method }) => method);
  }

  /** The last request. */
  get last(): RecordedRequest {
    const last = this.requests.at(-1);
    if (!last) throw new Error('no request was received');
    return last;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#http.closeAllConnections();
    await new Promise((resolve) => this.#http.close(resolve));
  }

  async #serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(message.url ?? '/', 'http://localhost');
    const received = await text(message);
    const request: RecordedRequest = {
      method: message.method ?? '',
      path: pathname,
      query: Object.fromEntries(searchParams),
      type: message.headers['content-type'],
      body: received === '' ? undefined : (JSON.parse(received) as unknown),
    };
    this.requests.push(request);
    const { status = 200, body, headers = {} } = this.#script(request, this.requests.length - 1);
    if (body === undefined) return void response.destroy();
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  }
}

/** A refusal as an apiserver sends it. */
export function status(code: number, reason: string, rest: object = {}): Answer {
  const body = { kind: 'Status', apiVersion: 'v1', code, reason, message: 'refused', ...rest };
  return { status: code, body };
}
