/**
 * An open watch as an AsyncIterable. It reads no more than one piece of the response ahead: without an iteration
 * in progress the socket is paused, and the server keeps the events.
 */
import { KubeloomError } from '../../base/errors.ts';
import type { Watch, WatchEvent } from '../../kube/list-watch.ts';
import { isRecord } from '../../kube/meta-shape.ts';
import type { HttpExchange } from '../../reflector/transport/http.ts';
import { WatchFrames } from '../../reflector/transport/watch-frames.ts';
import type { FrameSink } from '../../reflector/transport/watch-frames.ts';
import type { ResponseReader } from '../../reflector/api-client.ts';
import { OBJECT_BYTES_MAX } from './http-list.ts';

interface Waiting<T> {
  readonly resolve: (result: IteratorResult<WatchEvent<T>>) => void;
  readonly reject: (error: Error) => void;
}

export class HttpWatch<T> implements ResponseReader, FrameSink, Watch<T>, AsyncIterator<WatchEvent<T>> {
  readonly #opened: (watch: Watch<T>) => void;
  readonly #refused: (error: Error) => void;
  readonly #frames: WatchFrames = new WatchFrames(OBJECT_BYTES_MAX);
  #response: HttpExchange | undefined;
  #events: WatchEvent<T>[] = [];
  /** Index of the first event that was not delivered. */
  #next = 0;
  readonly #waiting: Waiting<T>[] = [];
  #end: { readonly error: Error | undefined } | undefined;

  constructor(opened: (watch: Watch<T>) => void, refused: (error: Error) => void) {
    this.#opened = opened;
    this.#refused = refused;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<WatchEvent<T>>> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#give();
    });
  }

  return(): Promise<IteratorResult<WatchEvent<T>>> {
    this.stop();
    return Promise.resolve({ done: true, value: undefined });
  }

  stop(): void {
    // Undelivered events and errors are dropped.
    this.#end = { error: undefined };
    this.#events = [];
    this.#next = 0;
    this.#response?.close();
    this.#give();
  }

  opened(response: HttpExchange): void {
    this.#response = response;
    this.#opened(this);
  }

  data(chunk: Buffer): void {
    this.#frames.write(chunk, 0, this);
    this.#give();
  }

  end(error: Error | undefined): void {
    this.#end ??= { error };
    if (this.#response) this.#give();
    else
      this.#refused(error ?? new KubeloomError('ERR_KUBELOOM_HTTP', 'the response ended before its headers'));
  }

  frame(bytes: Buffer, start: number, end: number): boolean {
    if (this.#end) return true;
    const event = eventOf<T>(bytes.toString('utf8', start, end));
    if (event) this.#events.push(event);
    else this.#malformed(`a line of ${end - start} bytes is not a watch event`);
    return true;
  }

  oversized(_bytes: Buffer, _start: number, _end: number, totalBytes: number): boolean {
    this.#malformed(`an event has ${totalBytes} bytes`);
    return true;
  }

  #malformed(message: string): void {
    this.#end ??= { error: new KubeloomError('ERR_KUBELOOM_MALFORMED_EVENT', message) };
    this.#response?.close();
  }

  /** Delivers events to waiting calls; reads on only while a call waits. */
  #give(): void {
    for (let waiting = this.#waiting[0]; waiting; waiting = this.#waiting[0]) {
      const event = this.#events[this.#next];
      if (event) {
        this.#next++;
        waiting.resolve({ done: false, value: event });
      } else if (this.#end) {
        this.#finish(waiting, this.#end.error);
      } else {
        break;
      }
      this.#waiting.shift();
    }
    if (this.#next === this.#events.length) {
      this.#events = [];
      this.#next = 0;
    }
    if (this.#end) return;
    if (this.#waiting.length > 0) this.#response?.resume();
    else this.#response?.pause();
  }

  #finish(waiting: Waiting<T>, error: Error | undefined): void {
    // Only once: after an error the iteration has ended.
    this.#end = { error: undefined };
    if (error) waiting.reject(error);
    else waiting.resolve({ done: true, value: undefined });
  }
}

function eventOf<T>(line: string): WatchEvent<T> | undefined {
  try {
    const event: unknown = JSON.parse(line);
    if (!isRecord(event) || typeof event['type'] !== 'string' || !isRecord(event['object'])) return undefined;
    // The caller checks types and objects.
    return event as WatchEvent<T>;
  } catch {
    return undefined;
  }
}
