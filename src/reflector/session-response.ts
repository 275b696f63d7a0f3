/**
 * The inputs of a reflector thread. An exchange is a request and its response: it turns the calls of the transport
 * into inputs and detects silence. The inbox is a first-in, first-out list of the inputs of all reflectors.
 *
 * A thread with sockets must not block. An input that meets full rings stays at the head and keeps the position. Later
 * inputs (bytes, the end of a connection, a timer) queue up behind it, in order. `drain` continues when there is room
 * again.
 */
import type { Clock } from '../base/clock.ts';
import type { KubeloomError } from '../base/errors.ts';
import type { ReflectorSpec } from '../shared/protocol.ts';
import type { BodyReader, HttpExchange, HttpTransport, ResponseSink } from '../http/http.ts';
import type { ObjectWriter } from './object-writer.ts';
import type { ListMeter } from './reports.ts';
import type { Router } from './router.ts';
import type { Effect, Failure, Progress, ReflectorEvent } from './rules/state.ts';
import { Watchdog } from '../http/watchdog.ts';

/** The reader of a response, chosen by status and verb. */
export interface Body extends BodyReader {
  readonly progress?: Progress;
  /** Stops the timers of the body while the response is not read; `resume` starts them again. */
  pause?(): void;
  resume?(): void;
  /** Releases the body; no other call follows. */
  close?(): void;
}

/** The reflector, as the exchange and the body of the response use it. */
export interface ResponseOwner {
  readonly clock: Clock;
  readonly inbox: Inbox;
  readonly spec: ReflectorSpec;
  readonly writer: ObjectWriter;
  readonly meter: ListMeter;
  /** Counters of the reflector, by `ActivityCounter`. */
  readonly counts: Float64Array;
  readonly router: Pick<Router, 'readMs'>;
  /** Effects of earlier inputs that `flush` has not carried out. */
  readonly effects: readonly Effect[];
  /** Carries out the effects of earlier inputs. @returns false when an effect found no room */
  flush(): boolean;
  begin(exchange: SessionResponse, status: number, headers: Readonly<Record<string, string>>): Body;
  /** Called for each chunk of a response, before any part of the chunk is read. */
  received(bytes: number): void;
  unanswered(error: KubeloomError): void;
  silent(limitMs: number): void;
  /**
   * Called once for each request.
   *
   * @param code the status of the response, or `<error>` when there is none
   */
  answered(code: string, durationMs: number): void;
  /** Publishes counters and activity; called after each input, and after each part of a chunk. */
  publish(): void;
  /** Takes one step. The next `flush` carries out the effects; callers write only after it. */
  dispatch(event: ReflectorEvent): void;
  fail(failure: Failure): void;
  report(during: Failure['during'], error: KubeloomError): void;
  /** Offers a bookmark. @returns false when there is no room */
  offerBookmark(resourceVersion: string): boolean;
}

/** The transport's own timeout is this much longer, so that our watchdog fires first. */
const TRANSPORT_EXTRA_MS = 10_000;
/** client-go's code of a request without a response. */
const NO_ANSWER = '<error>';

export class SessionResponse implements ResponseSink {
  readonly owner: ResponseOwner;
  isClosed = false;
  /** The reader of the bytes; undefined: the bytes are dropped. */
  body: Body | undefined;
  readonly #watchdog: Watchdog;
  readonly #http: HttpExchange;
  readonly #sentAtMs: number;
  #isAnswered = false;
  #isPaused = false;

  /**
   * @param silenceMaxMs the longest time between two signs of life, from the request on; connecting and the
   *   head are included
   * @param accept the transport's default when undefined
   */
  constructor(
    owner: ResponseOwner,
    transport: HttpTransport,
    path: string,
    silenceMaxMs: number,
    accept: string | undefined,
  ) {
    this.owner = owner;
    this.#sentAtMs = owner.clock.now();
    this.#watchdog = new Watchdog(owner.clock, silenceMaxMs, (limitMs) => {
      this.#answered(NO_ANSWER);
      transport.closeIdle();
      this.#happened(() => owner.silent(limitMs));
    });
    const { acceptsGzip = false } = owner.spec;
    const timeoutMs = silenceMaxMs + TRANSPORT_EXTRA_MS;
    const headers = accept === undefined ? {} : { headers: { accept } };
    this.#http = transport.request({ path, timeoutMs, acceptsGzip, ...headers }, this);
  }

  /** Shortens the time allowed between two signs of life; never extends it. */
  expectWithin(silenceMaxMs: number): void {
    if (!this.isClosed) this.#watchdog.shorten(silenceMaxMs);
  }

  pause(): void {
    if (this.isClosed) return;
    this.#isPaused = true;
    this.#http.pause();
    this.#watchdog.pause();
    this.body?.pause?.();
  }

  resume(): void {
    if (this.isClosed) return;
    this.#isPaused = false;
    this.#watchdog.resume();
    this.body?.resume?.();
    this.#http.resume();
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#watchdog.stop();
    this.body?.close?.();
    this.#http.close();
  }

  head(status: number, headers: Readonly<Record<string, string>>): void {
    this.#watchdog.touch();
    this.#answered(String(status));
    this.#happened(() => {
      this.body = this.owner.begin(this, status, headers);
      if (this.#isPaused) this.body.pause?.();
    });
  }

  data(chunk: Uint8Array): void {
    if (this.isClosed) return;
    const nowMs = this.owner.clock.now();
    this.#watchdog.lastSignAt = nowMs;
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    this.owner.received(bytes.length);
    this.owner.inbox.offerBytes(this, bytes, nowMs);
  }

  end(error: KubeloomError | undefined): void {
    this.#watchdog.stop();
    if (error) this.#answered(NO_ANSWER);
    this.#happened(() => {
      if (this.body) this.body.end(error);
      else if (error) this.owner.unanswered(error);
    });
  }

  #answered(code: string): void {
    if (this.isClosed || this.#isAnswered) return;
    this.#isAnswered = true;
    this.owner.answered(code, this.owner.clock.now() - this.#sentAtMs);
  }

  /** Offers an event, unless the exchange is closed by the time it is handled. */
  #happened(handle: () => void): void {
    if (this.isClosed) return;
    this.owner.inbox.offerEvent(this.owner, () => {
      if (!this.isClosed) handle();
    });
  }
}

interface EventInput {
  readonly kind: 'event';
  /** The owner of the event's effects. */
  readonly owner: ResponseOwner;
  handle: (() => void) | undefined;
  next: Input | undefined;
}

interface ChunkInput {
  readonly kind: 'chunk';
  readonly exchange: SessionResponse;
  chunk: Buffer;
  readonly readMs: number;
  /** The first index that was not read. */
  position: number;
  next: Input | undefined;
}

type Input = EventInput | ChunkInput;

export class Inbox {
  length = 0;
  readonly #onTurn: () => void;
  #head: Input | undefined;
  #last: Input | undefined;
  #isDraining = false;
  #isClosed = false;

  /** @param onTurn called after each turn: all inputs are handled, or the first input found no room */
  constructor(onTurn: () => void) {
    this.#onTurn = onTurn;
  }

  /**
   * Calls `handle`, at once if no other input is waiting. The input is done when the effects, which may find
   * no room, are carried out.
   */
  offerEvent(owner: ResponseOwner, handle: () => void): void {
    if (this.#isClosed) return;
    this.#append({ kind: 'event', owner, handle, next: undefined });
    this.drain();
    if (!this.#isDraining) this.#onTurn();
  }

  /** Passes bytes to the response's body, at once if no other input is waiting. Copies what is not read. */
  offerBytes(exchange: SessionResponse, chunk: Buffer, readMs: number): void {
    if (this.#isClosed) return;
    const input: ChunkInput = { kind: 'chunk', exchange, chunk, readMs, position: 0, next: undefined };
    this.#append(input);
    this.drain();
    if (!exchange.isClosed && input.position < chunk.length) {
      input.chunk = Buffer.from(chunk.subarray(input.position));
      input.position = 0;
    }
    if (!this.#isDraining) this.#onTurn();
  }

  /**
   * Handles inputs until an input finds no room. A call from inside an input returns at once: the outer call
   * continues.
   *
   * @returns the number of completed inputs
   */
  drain(): number {
    if (this.#isDraining) return 0;
    this.#isDraining = true;
    let completed = 0;
    try {
      for (let input = this.#head; input && advance(input) && !this.#isClosed; input = this.#head) {
        this.#head = input.next;
        this.length--;
        completed++;
        if (!this.#head) this.#last = undefined;
      }
    } finally {
      this.#isDraining = false;
    }
    return completed;
  }

  /** Drops all inputs, and all later inputs. */
  close(): void {
    this.#isClosed = true;
    this.#head = undefined;
    this.#last = undefined;
    this.length = 0;
  }

  #append(input: Input): void {
    if (this.#last) this.#last.next = input;
    else this.#head = input;
    this.#last = input;
    this.length++;
  }
}

/** Does as much as there is room for. @returns false when the input is not done */
function advance(input: Input): boolean {
  if (input.kind === 'event') {
    const { handle } = input;
    input.handle = undefined;
    handle?.();
    const isDone = input.owner.flush();
    input.owner.publish();
    return isDone;
  }
  const { exchange, chunk, readMs } = input;
  if (!exchange.isClosed) {
    const { body, owner } = exchange;
    owner.router.readMs = readMs;
    input.position = body ? body.write(chunk, input.position) : chunk.length;
    owner.publish();
  }
  return (exchange.isClosed || input.position >= chunk.length) && exchange.owner.flush();
}
