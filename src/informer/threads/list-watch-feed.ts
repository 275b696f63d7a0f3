/**
 * The main thread's side of a user's ListerWatcher. Answers the reflector's requests by calling the user's functions,
 * and formats their results as the apiserver would. It serialises every object here, which takes about as long as
 * parsing it: the price of functions on the main thread.
 */
import { KubeloomError } from '../../base/errors.ts';
import { listOptionsOf } from '../../kube/list-watch.ts';
import type { KubeList, ListOptions, ListerWatcher, Watch, WatchEvent } from '../../kube/list-watch.ts';
import { FeedResponse } from './feed-response.ts';
import { answerOf, failed, listerWatcherError, missingVersion } from './feed-errors.ts';
import type { ConnectionOptions, FeedAnswer, FeedRequest } from '../../shared/protocol.ts';

export interface ListWatchFeedOptions {
  readonly informer: number;
  readonly post: (answer: FeedAnswer) => void;
  /** Reports an error that no answer can carry. */
  readonly onError: (during: 'list' | 'watch', error: KubeloomError) => void;
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

  /** Handles a request of the reflector; ignores requests after `close`, because that reflector has ended. */
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

  /** Ends all open requests and answers no further ones. */
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
    response.signal.addEventListener('abort', stop, { once: true });
    try {
      response.head(200);
      await writeEvents(response, watch);
      response.end();
    } catch (error) {
      this.#endWatch(response, error);
    }
    response.signal.removeEventListener('abort', stop);
    // Stop a watch that ended by itself, too; `stop` may be called more than once.
    stop();
  }

  /** Reports the error here, where the cause is known: the reflector would only see a watch that ended. */
  #endWatch(response: FeedResponse, error: unknown): void {
    const answer = answerOf(error);
    if (answer) response.write(`{"type":"ERROR","object":${answer.body}}\n`);
    else if (!response.isOver) this.#options.onError('watch', failed('watch', error));
    response.end();
  }

  #stop(watch: Watch<unknown>): void {
    try {
      watch.stop();
    } catch (error) {
      this.#options.onError('watch', failed('watch', error));
    }
  }
}

/** Answers with the error. An error that is no server's answer counts as a failed connection. */
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
  if (!Array.isArray(list?.items))
    throw listerWatcherError('list() of the ListerWatcher returned no list: `items` is not an array');
  if (!list.metadata?.resourceVersion) {
    throw missingVersion('the list', 'no watch can go on from where it was made');
  }
}

async function writeList(response: FeedResponse, list: KubeList<unknown>): Promise<void> {
  const { items, ...head } = list;
  // `head` is a non-empty object, so `items` can follow as one more member.
  response.write(`${JSON.stringify(head).slice(0, -1)},"items":[`);
  let separator = '';
  for (const item of items) {
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
  const text = type === 'BOOKMARK' || type === 'ERROR' ? JSON.stringify(object) : textOf(object);
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
  return JSON.stringify(object);
}
