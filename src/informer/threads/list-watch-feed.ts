/**
 * The main thread's side of a user's ListerWatcher. Answers the reflector's requests by calling the user's functions,
 * and formats their results as the apiserver would. It serialises every object, which takes about as long as parsing:
 * the price of functions on the main thread.
 */
import { statusText } from '../../kube/status.ts';
import { itemsOf } from '../../kube/meta.ts';
import { KubeloomError, inspectable, toErrorMessage, messageOf } from '../../base/errors.ts';
import { jsonText } from '../../base/json-text.ts';
import { listOptionsOf } from '../../kube/lister-watcher.ts';
import type { KubeList, ListOptions, ListerWatcher, Watch, WatchEvent } from '../../kube/lister-watcher.ts';
import type { FeedAnswer, FeedRequest } from '../../shared/protocol.ts';
import type { ConnectionOptions } from '../../kube/connection-options.ts';
import { realTimers } from '../../base/clock.ts';
import { onAbort } from '../../base/on-abort.ts';

/** Large, because a message costs some microseconds whatever the size. */
const CHUNK_CHARACTERS = 64 * 1024;
/** Enough to keep the reflector working until the next acknowledgement arrives. */
export const WINDOW_BYTES: number = 256 * 1024;

const encoder = new TextEncoder();

export interface ListWatchFeedOptions {
  readonly informer: number;
  readonly post: (answer: FeedAnswer) => void;
  /** Reports an error that an answer cannot carry. */
  readonly onError: (error: KubeloomError) => void;
}

export class ListWatchFeed {
  /** Directs the reflector's requests to this feed instead of a server. */
  readonly connection: ConnectionOptions;
  readonly #listerWatcher: ListerWatcher<unknown>;
  readonly #options: ListWatchFeedOptions;
  readonly #open: Map<number, FeedResponse> = new Map();
  #isClosed = false;

  constructor(listerWatcher: ListerWatcher<unknown>, options: ListWatchFeedOptions) {
    this.connection = { server: 'lister-watcher:', headers: {}, feed: options.informer };
    this.#listerWatcher = listerWatcher;
    this.#options = options;
  }

  /** Handles a request of the reflector; ignores requests after `close`, which come from an ended reflector. */
  receive(message: FeedRequest): void {
    if (this.#isClosed) return;
    const { request } = message;
    switch (message.part) {
      case 'open':
        void this.#answer(request, message.path);
        break;
      case 'taken':
        this.#open.get(request)?.taken(message.bytes);
        break;
      default:
        this.#open.get(request)?.close();
    }
  }

  /** Ends all open requests and answers no further requests. */
  close(): void {
    this.#isClosed = true;
    for (const response of this.#open.values()) response.close();
  }

  async #answer(request: number, path: string): Promise<void> {
    const response = new FeedResponse(request, this.#options.post);
    this.#open.set(request, response);
    const query = new URLSearchParams(path.slice(path.indexOf('?') + 1));
    const options = listOptionsOf(Object.fromEntries(query));
    if (query.get('watch') === 'true') await this.#answerWatch(options, response);
    else await this.#answerList(options, response);
    this.#open.delete(request);
  }

  async #answerList(options: ListOptions, response: FeedResponse): Promise<void> {
    let list: KubeList<unknown>;
    try {
      list = await this.#listerWatcher.list(options, response.signal);
      checkList(list);
    } catch (error) {
      unanswered(response, 'list', error);
      return;
    }
    try {
      response.head(200);
      await writeList(response, list);
      response.end();
    } catch (error) {
      response.end(failed('list', error));
    }
  }

  async #answerWatch(options: ListOptions, response: FeedResponse): Promise<void> {
    let watch: Watch<unknown>;
    try {
      watch = await this.#listerWatcher.watch(options, response.signal);
    } catch (error) {
      unanswered(response, 'watch', error);
      return;
    }
    const stop = (): void => this.#stop(watch);
    const unlisten = onAbort(response.signal, stop);
    try {
      response.head(200);
      await writeEvents(response, watch);
      response.end();
    } catch (error) {
      this.#endWatch(response, error);
    }
    unlisten();
    // Also stops a watch that ended by itself; `stop` may be called more than once.
    stop();
  }

  /** Reports the error here, where the cause is known: the reflector would only see the end of a watch. */
  #endWatch(response: FeedResponse, error: unknown): void {
    const answer = answerOf(error);
    if (answer) response.write(`{"type":"ERROR","object":${answer.body}}\n`);
    else if (!response.isOver) this.#options.onError(failed('watch', error));
    response.end();
  }

  #stop(watch: Watch<unknown>): void {
    try {
      watch.stop();
    } catch (error) {
      this.#options.onError(failed('watch', error));
    }
  }
}

/** Answers with the error. An error that is not a server's answer counts as a failed connection. */
function unanswered(response: FeedResponse, verb: 'list' | 'watch', error: unknown): void {
  const answer = answerOf(error);
  if (!answer) {
    response.end(failed(verb, error));
    return;
  }
  response.head(answer.status, answer.headers);
  response.write(answer.body);
  response.end();
}

function checkList(list: KubeList<unknown>): void {
  if (!itemsOf(list))
    throw listerWatcherError('list() of the ListerWatcher returned no list: `items` is not an array');
  if (!list.metadata?.resourceVersion) {
    throw missingVersion('the list', 'no watch can go on from where it was made');
  }
}

async function writeList(response: FeedResponse, list: KubeList<unknown>): Promise<void> {
  const { items: _items, ...head } = list;
  // `head` is a non-empty object, so `items` can follow as a further member.
  response.write(`${jsonText(head).slice(0, -1)},"items":[`);
  let separator = '';
  for (const item of itemsOf(list) ?? []) {
    if (response.isFull) await response.room();
    if (response.isOver) return;
    response.write(separator + textOf(item));
    separator = ',';
  }
  response.write(']}');
}

async function writeEvents(response: FeedResponse, watch: Watch<unknown>): Promise<void> {
  if (response.isOver) return;
  for await (const event of watch) {
    if (response.isOver) return;
    response.write(lineOf(event));
    if (response.isFull) await response.room();
  }
}

function lineOf(event: WatchEvent<unknown>): string {
  const { type, object } = event;
  const text = type === 'BOOKMARK' || type === 'ERROR' ? jsonText(object) : textOf(object);
  return `{"type":${JSON.stringify(type)},"object":${text}}\n`;
}

/** Returns an object as JSON. An object without a version could be neither compared nor watched from. */
function textOf(object: unknown): string {
  const { metadata } = (object ?? {}) as { metadata?: Record<string, unknown> };
  const version = metadata?.['resourceVersion'];
  if (typeof version !== 'string' || version === '') {
    const { namespace, name } = metadata ?? {};
    const key = [namespace, name].filter((part) => typeof part === 'string' && part !== '').join('/');
    throw missingVersion(key === '' ? 'an object' : `object ${key}`, 'it cannot be put in order');
  }
  return jsonText(object);
}

interface StatusAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** A Status as JSON. */
  readonly body: string;
}

/**
 * Returns the server's answer that an error carries: `KubeStatusError`, another error with an `httpStatus`, or
 * client-node's `ApiException` with a `code` and the server's `body`. Otherwise undefined.
 */
function answerOf(caught: unknown): StatusAnswer | undefined {
  const error = inspectable(caught);
  if (!(error instanceof Error)) return undefined;
  const thrown = error as Error & Readonly<Record<string, unknown>>;
  const status = thrown['httpStatus'] ?? thrown['code'];
  if (typeof status !== 'number' || status < 400 || status > 599) return undefined;
  const { retryAfterSeconds, body } = thrown;
  const isLater = typeof retryAfterSeconds === 'number' && retryAfterSeconds > 0;
  const headers = isLater ? { 'retry-after': String(retryAfterSeconds) } : {};
  if (typeof body === 'string') return { status, headers, body };
  return { status, headers, body: statusText(body ?? statusOf(thrown, status), thrown) };
}

function statusOf(thrown: Error & Readonly<Record<string, unknown>>, code: number): object {
  const { message, reason, serverMessage, retryAfterSeconds, causes } = thrown;
  return {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    message: serverMessage ?? message,
    reason,
    details: { causes, retryAfterSeconds },
    code,
  };
}

/** Wraps any other error in a message that names the user's function. */
function failed(verb: 'list' | 'watch', caught: unknown): KubeloomError {
  const error = inspectable(caught);
  if (error instanceof KubeloomError) return error;
  const message = messageOf(error);
  return listerWatcherError(`${verb}() of the ListerWatcher failed: ${message}`, error);
}

function listerWatcherError(message: string, cause?: unknown): KubeloomError {
  return new KubeloomError('ERR_KUBELOOM_LISTER_WATCHER', message, cause === undefined ? {} : { cause });
}

function missingVersion(what: string, consequence: string): KubeloomError {
  return new KubeloomError(
    'ERR_KUBELOOM_NO_RESOURCE_VERSION',
    `${what} that the ListerWatcher gave has no metadata.resourceVersion: ${consequence}`,
  );
}

/**
 * An answer of a feed to the reflector. Gathers text into chunks. `isFull` tells the feed to stop calling the user's
 * functions while too many bytes are unacknowledged.
 */
class FeedResponse {
  readonly #request: number;
  readonly #post: (answer: FeedAnswer) => void;
  readonly #controller: AbortController = new AbortController();
  #text: string[] = [];
  #characters = 0;
  #unacknowledgedBytes = 0;
  #isFlushing = false;
  /** Whether the answer ended or the reflector closed the request. */
  isOver = false;
  #roomMade: (() => void) | undefined;

  constructor(request: number, post: (answer: FeedAnswer) => void) {
    this.#request = request;
    this.#post = post;
  }

  /** Aborted when the reflector closes the request. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether the feed must wait for `room` before the next `write`. */
  get isFull(): boolean {
    return !this.isOver && this.#unacknowledgedBytes + this.#characters >= WINDOW_BYTES;
  }

  /** Resolves when there is room or the answer is over. Allows a single waiting caller at a time. */
  async room(): Promise<void> {
    this.#flush();
    while (this.isFull) {
      await new Promise<void>((resolve) => {
        this.#roomMade = resolve;
      });
    }
  }

  head(status: number, headers: Readonly<Record<string, string>> = {}): void {
    if (this.isOver) return;
    this.#post({ type: 'feed', request: this.#request, part: 'head', status, headers });
  }

  /** Sends the text, together with all other text written in this turn of the event loop. */
  write(text: string): void {
    if (this.isOver) return;
    this.#text.push(text);
    this.#characters += text.length;
    if (this.#characters >= CHUNK_CHARACTERS) this.#flush();
    else this.#flushSoon();
  }

  end(error?: unknown): void {
    if (this.isOver) return;
    this.#flush();
    this.isOver = true;
    const ended = { type: 'feed', request: this.#request, part: 'end' } as const;
    this.#post(error === undefined ? ended : { ...ended, error: toErrorMessage(error) });
  }

  /** Acknowledges bytes that the reflector read. */
  taken(bytes: number): void {
    this.#unacknowledgedBytes -= bytes;
    this.#wake();
  }

  /** Drops the rest: the reflector closed the request. */
  close(): void {
    this.isOver = true;
    this.#text = [];
    this.#controller.abort();
    this.#wake();
  }

  #wake(): void {
    const roomMade = this.#roomMade;
    this.#roomMade = undefined;
    roomMade?.();
  }

  #flushSoon(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    realTimers.setImmediate(() => {
      this.#isFlushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.isOver || this.#text.length === 0) return;
    const chunk = encoder.encode(this.#text.join(''));
    this.#text = [];
    this.#characters = 0;
    this.#unacknowledgedBytes += chunk.length;
    this.#post({ type: 'feed', request: this.#request, part: 'data', chunk });
  }
}
