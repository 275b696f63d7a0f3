/**
 * The reflector's side of a user's ListerWatcher. To the reflector it is an ordinary transport, so every
 * rule of list-and-watch applies unchanged. Requests are messages to the main thread, where `ListWatchFeed`
 * answers them.
 *
 * Messages held back during a pause are not acknowledged; the feed waits for acknowledgements before it
 * reads on.
 */
import { KubeloomError, fromErrorMessage } from '../base/errors.ts';
import type { HttpExchange, HttpRequest, HttpTransport, ResponseSink } from '../http/http.ts';
import type {
  ControlPort,
  FeedAnswer,
  FromReflector,
  FromReflectorThread,
  ToReflector,
  ToReflectorThread,
} from '../shared/protocol.ts';

/** Intercepts the feeds' answers on the reflector thread's port. */
export class FeedTransports {
  /** The port of the reflectors, with all other messages. */
  readonly port: ControlPort<ToReflector, FromReflector>;
  readonly #post: (message: FromReflectorThread) => void;
  readonly #exchanges = new Map<number, FeedExchange>();
  #requests = 0;

  constructor(port: ControlPort<ToReflectorThread, FromReflectorThread>) {
    this.#post = (message) => port.post(message);
    this.port = {
      post: this.#post,
      onMessage: (listener) =>
        port.onMessage((message) => {
          // An answer may have been on its way when the request was closed.
          if (message.type === 'feed') this.#exchanges.get(message.request)?.receive(message);
          else listener(message);
        }),
    };
  }

  transportFor(informer: number): HttpTransport {
    const open = new Set<FeedExchange>();
    return {
      request: (request, sink) => this.#request(informer, request, sink, open),
      // A feed opens no connections.
      closeIdle: () => undefined,
      dispose: () => {
        const message = 'the request was closed by shutdown';
        for (const exchange of open) {
          exchange.fail(new KubeloomError('ERR_KUBELOOM_STOPPED', message));
        }
        return Promise.resolve();
      },
    };
  }

  #request(
    informer: number,
    { path }: HttpRequest,
    sink: ResponseSink,
    open: Set<FeedExchange>,
  ): HttpExchange {
    const request = ++this.#requests;
    const post = (part: FeedPart): void => this.#post({ type: 'feed', informer, request, ...part });
    const exchange = new FeedExchange(sink, post, () => {
      this.#exchanges.delete(request);
      open.delete(exchange);
    });
    this.#exchanges.set(request, exchange);
    open.add(exchange);
    post({ part: 'open', path });
    return exchange;
  }
}

type FeedPart =
  | { readonly part: 'open'; readonly path: string }
  | { readonly part: 'taken'; readonly bytes: number }
  | { readonly part: 'close' };

class FeedExchange implements HttpExchange {
  readonly #sink: ResponseSink;
  readonly #post: (part: FeedPart) => void;
  readonly #onEnd: () => void;
  readonly #held: FeedAnswer[] = [];
  #isPaused = false;
  #isOver = false;

  constructor(sink: ResponseSink, post: (part: FeedPart) => void, onEnd: () => void) {
    this.#sink = sink;
    this.#post = post;
    this.#onEnd = onEnd;
  }

  receive(answer: FeedAnswer): void {
    if (answer.part !== 'head' && (this.#isPaused || this.#held.length > 0)) this.#held.push(answer);
    else this.#deliver(answer);
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    // Deferred, because the sink may be in the middle of a call.
    queueMicrotask(() => this.#flow());
  }

  close(): void {
    if (this.#isOver) return;
    this.#end();
    this.#post({ part: 'close' });
  }

  fail(error: KubeloomError): void {
    this.close();
    this.#sink.end(error);
  }

  #flow(): void {
    while (!this.#isPaused && !this.#isOver) {
      const answer = this.#held.shift();
      if (!answer) return;
      this.#deliver(answer);
    }
  }

  #deliver(answer: FeedAnswer): void {
    if (this.#isOver) return;
    switch (answer.part) {
      case 'head':
        this.#sink.head(answer.status, { ...answer.headers });
        break;
      case 'data':
        this.#sink.data(answer.chunk);
        this.#post({ part: 'taken', bytes: answer.chunk.length });
        break;
      default:
        this.#end();
        this.#sink.end(answer.error && fromErrorMessage(answer.error));
    }
  }

  #end(): void {
    this.#isOver = true;
    this.#held.length = 0;
    this.#onEnd();
  }
}
