/**
 * Server that sends exactly the answers of a test's script over real HTTP: malformed lines, events that no apiserver
 * sends, and answers in an order that the embedded apiserver never uses.
 */
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A LIST or WATCH request, and functions to answer it. */
export class ScriptedRequest {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly atMs: number = performance.now();
  /** The client's port, which is equal for all requests over a connection. */
  readonly clientPort: number;
  readonly #response: ServerResponse;

  constructor({ pathname, searchParams }: URL, response: ServerResponse) {
    this.path = pathname;
    this.query = Object.fromEntries(searchParams);
    this.#response = response;
    this.clientPort = response.socket?.remotePort ?? 0;
  }

  get isWatch(): boolean {
    return this.query['watch'] === 'true';
  }

  get isStreamingList(): boolean {
    return this.query['sendInitialEvents'] === 'true';
  }

  /** Sends a whole answer. */
  answer(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): void {
    this.#response.writeHead(status, { 'content-type': 'application/json', ...headers });
    this.#response.end(typeof body === 'string' ? body : JSON.stringify(body));
  }

  /** Sends lines of a watch: objects as JSON, strings and bytes unchanged. */
  send(...lines: readonly unknown[]): this {
    if (!this.#response.headersSent) this.#response.writeHead(200, { 'content-type': 'application/json' });
    this.#response.write(Buffer.concat(lines.map(bytesOf)));
    return this;
  }

  end(): void {
    if (!this.#response.headersSent) this.#response.writeHead(200, { 'content-type': 'application/json' });
    this.#response.end();
  }

  /** Cuts the connection. */
  cut(): void {
    this.#response.destroy();
  }
}

/** Reaction to the n-th request, from 0. Without an answer the request stays open. */
export type Script = (request: ScriptedRequest, number: number) => void;

export class ScriptedServer implements AsyncDisposable {
  readonly url: string;
  readonly requests: ScriptedRequest[] = [];
  readonly #close: () => Promise<void>;
  readonly #waiters: { readonly count: number; readonly resolve: (request: ScriptedRequest) => void }[] = [];

  private constructor(url: string, close: () => Promise<void>) {
    this.url = url;
    this.#close = close;
  }

  static async start(script: Script): Promise<ScriptedServer> {
    let started: ScriptedServer | undefined;
    const http = createServer((message, response) => {
      const url = new URL(message.url ?? '/', 'http://localhost');
      const request = new ScriptedRequest(url, response);
      started?.record(request);
      script(request, (started?.requests.length ?? 1) - 1);
    });
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    const { port } = http.address() as AddressInfo;
    started = new ScriptedServer(`http://127.0.0.1:${port}`, async () => {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    });
    return started;
  }

  /** All requests with their versions: `list 5`, `stream`, `watch 5`. */
  get asked(): string[] {
    return this.requests.map(({ isStreamingList, isWatch, query }) => {
      const verb = isStreamingList ? 'stream' : isWatch ? 'watch' : 'list';
      return `${verb} ${query['resourceVersion'] ?? ''}`.trim();
    });
  }

  /** Resolves with the n-th request, from 0, after it arrived. */
  request(number: number): Promise<ScriptedRequest> {
    const request = this.requests[number];
    if (request) return Promise.resolve(request);
    return new Promise((resolve) => this.#waiters.push({ count: number + 1, resolve }));
  }

  record(request: ScriptedRequest): void {
    this.requests.push(request);
    for (const { count, resolve } of this.#waiters) if (count === this.requests.length) resolve(request);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close();
  }
}

function bytesOf(line: unknown): Buffer {
  if (Buffer.isBuffer(line)) return line;
  return Buffer.from(typeof line === 'string' ? line : `${JSON.stringify(line)}\n`);
}

/** A pod in a list or an event of a scripted server. */
export function wirePod(name: string, resourceVersion: string, more: object = {}): object {
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name, namespace: 'default', uid: `uid-${name}`, resourceVersion },
    ...more,
  };
}

export function event(type: string, name: string, resourceVersion: string): object {
  return { type, object: wirePod(name, resourceVersion) };
}

export function bookmark(resourceVersion: string, isEnd: boolean = false): object {
  const annotations = isEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {};
  return {
    type: 'BOOKMARK',
    object: { kind: 'Pod', apiVersion: 'v1', metadata: { resourceVersion, ...annotations } },
  };
}

export function list(resourceVersion: string, items: readonly object[], more: object = {}): object {
  return { kind: 'PodList', apiVersion: 'v1', metadata: { resourceVersion, ...more }, items };
}

export function status(code: number, reason: string, message: string = reason, details: object = {}): object {
  return { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message, details };
}
