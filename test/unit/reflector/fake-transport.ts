/** A transport whose other end is the test. It fulfils the contract of `ResponseSink`, pauses included. */
import { KubeloomError } from '../../../src/base/errors.ts';
import type { HttpExchange, HttpRequest, HttpTransport, ResponseSink } from '../../../src/http/http.ts';

export class FakeExchange implements HttpExchange {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  isPaused = false;
  isClosed = false;
  isOver = false;
  readonly #sink: ResponseSink;
  /** The calls held back by a pause. */
  #held: (() => void)[] = [];

  constructor(request: HttpRequest, sink: ResponseSink) {
    const [path = '', query = ''] = request.path.split('?');
    this.path = path;
    this.query = Object.fromEntries(new URLSearchParams(query));
    this.timeoutMs = request.timeoutMs ?? 0;
    this.#sink = sink;
  }

  get isWatch(): boolean {
    return this.query['watch'] === 'true';
  }

  /** True while the request can be answered. */
  get isOpen(): boolean {
    return !this.isClosed && !this.isOver;
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
    while (!this.isPaused && !this.isClosed) {
      const next = this.#held.shift();
      if (!next) return;
      next();
    }
  }

  close(): void {
    this.isClosed = true;
    this.#held = [];
  }

  head(status = 200, headers: Record<string, string> = {}): this {
    this.#when(() => this.#sink.head(status, headers));
    return this;
  }

  send(text: string | Buffer): this {
    const chunk = Buffer.from(text);
    this.#when(() => {
      this.#sink.data(chunk);
      // Simulates the next read, which reuses the memory: code that still needs the bytes fails.
      chunk.fill('#');
    });
    return this;
  }

  /** Sends the head of a watch and its first events. */
  stream(...events: readonly object[]): this {
    return this.head().sendEvents(...events);
  }

  /** Sends objects as lines of a watch. */
  sendEvents(...events: readonly object[]): this {
    return this.send(events.map((event) => `${JSON.stringify(event)}\n`).join(''));
  }

  end(error?: KubeloomError): void {
    this.isOver = true;
    this.#when(() => this.#sink.end(error));
  }

  reset(): void {
    this.end(new KubeloomError('ERR_KUBELOOM_CONNECTION_RESET', 'the connection broke'));
  }

  refuse(): void {
    this.end(new KubeloomError('ERR_KUBELOOM_UNREACHABLE', 'nobody listens'));
  }

  /** Sends an answer other than 200, as Kubernetes words it. */
  fail(code: number, reason: string, headers: Record<string, string> = {}, details: object = {}): void {
    this.head(code, headers)
      .send(JSON.stringify({ kind: 'Status', code, reason, message: `${reason}!`, details }))
      .end();
  }

  #when(deliver: () => void): void {
    if (this.isClosed) return;
    if (this.isPaused || this.#held.length > 0) this.#held.push(deliver);
    else deliver();
  }
}

export class FakeTransport implements HttpTransport {
  readonly exchanges: FakeExchange[] = [];
  isDisposed = false;
  /** The number of times that idle connections were closed. */
  idleClosures = 0;

  request(request: HttpRequest, sink: ResponseSink): HttpExchange {
    const exchange = new FakeExchange(request, sink);
    this.exchanges.push(exchange);
    return exchange;
  }

  closeIdle(): void {
    this.idleClosures++;
  }

  async dispose(): Promise<void> {
    this.isDisposed = true;
  }
}
