/** Opens one watch, or streaming list, and reads it until it ends, fails, times out, or is cancelled. */
import { KubeloomError, wrapped } from '../../base/errors.ts';
import type { Watch, WatchEvent } from '../../kube/list-watch.ts';
import { isRecord, metadataAtHand, resourceVersionOf } from '../../kube/meta-shape.ts';
import { errorEvent, malformed, noEndBookmark, stalled } from '../../reflector/rules/failure.ts';
import { InitialEventsDeadline } from '../../reflector/initial-events-deadline.ts';
import { Watchdog } from '../../reflector/watchdog.ts';
import type { Query } from '../../shared/protocol.ts';
import { listOptionsOf } from '../../kube/list-options.ts';
import { describeType, isInitialEventsEnd, isOfType, isTable } from './expected-type.ts';
import type { RequestAttempt, RequestContext } from './list-request.ts';
import { answerIn, errorOf, failureOf, malformedIn } from './lister-watcher-errors.ts';
import { WatchProgress } from './watch-progress.ts';
import type { ObjectEventType } from './store-writer.ts';

/** The server ends a watch after `timeoutSeconds`; a watch that lasts this much longer is ended by the client. */
const WATCH_MARGIN_MS = 30_000;
/** Longest excerpt of an unexpected object in a message. */
const EXCERPT_CHARACTERS_MAX = 200;

export interface WatchRequest {
  readonly query: Query;
  readonly isStreamingList: boolean;
  readonly timeoutSeconds: number;
}

/** Runs a watch. Rejects only for internal errors. */
export async function runWatch<T>(
  attempt: RequestAttempt,
  request: WatchRequest,
  context: RequestContext<T>,
): Promise<void> {
  const { listerWatcher, name } = context;
  let watch: Watch<T>;
  try {
    const options = { ...listOptionsOf(request.query), timeoutSeconds: request.timeoutSeconds };
    watch = await listerWatcher.watch(options, attempt.signal);
    requireWatch(watch, `${name}: WATCH`);
  } catch (thrown) {
    if (!attempt.isClosed) context.fail(failureOf('watch', thrown, `${name}: WATCH`));
    return;
  }
  attempt.onClose(() => stop(watch, context));
  if (!attempt.isClosed) await readWatch(attempt, watch, request, context);
}

/** Throws unless the value is a watch. A watch without `stop` could not be ended. */
function requireWatch(watch: unknown, where: string): void {
  if (isRecord(watch) && typeof watch['stop'] === 'function' && Symbol.asyncIterator in watch) return;
  const message = `${where} returned no watch: it has no stop(), or is not iterable`;
  throw new KubeloomError('ERR_KUBELOOM_LIST_WATCH', message);
}

/** Stops the watch and reports an error. It must not reach the caller, which may be the user's own `abort()`. */
function stop<T>(watch: Watch<T>, { name, reports }: RequestContext<T>): void {
  try {
    watch.stop();
  } catch (cause) {
    reports.report(wrapped('ERR_KUBELOOM_LIST_WATCH', `${name}: WATCH: stop() failed`, cause), 'watch');
  }
}

async function readWatch<T>(
  attempt: RequestAttempt,
  watch: Watch<T>,
  request: WatchRequest,
  context: RequestContext<T>,
): Promise<void> {
  const { clock } = context;
  const progress = new WatchProgress(request.query, request.isStreamingList, clock.now());
  attempt.progress = progress;
  const where = `${context.name}: WATCH`;
  const reader = new WatchReader(context, progress, where);
  const touch = noticeSilence(attempt, progress, request, context);
  context.opened();
  try {
    for await (const event of watch) {
      if (attempt.isClosed) return;
      touch();
      reader.read(event);
      // The event may have ended this watch.
      if (attempt.isClosed) return;
    }
  } catch (thrown) {
    if (attempt.isClosed) return;
    const failure = answerIn('watch', thrown, where) ?? malformedIn(thrown);
    const reached = progress.at(clock.now());
    attempt.close();
    if (failure) context.fail(failure);
    else context.dispatch({ type: 'closed', progress: reached, error: errorOf('watch', thrown, where) });
    return;
  }
  if (attempt.isClosed) return;
  attempt.close();
  context.dispatch({ type: 'closed', progress: progress.at(clock.now()) });
}

/** @returns a function to call for every received byte or event */
function noticeSilence<T>(
  attempt: RequestAttempt,
  progress: WatchProgress,
  request: WatchRequest,
  { clock, name, fail }: RequestContext<T>,
): () => void {
  const where = `${name}: WATCH`;
  const limitMs = request.timeoutSeconds * 1000 + WATCH_MARGIN_MS;
  const watchdog = new Watchdog(clock, limitMs, () => fail(stalled('watch', where, limitMs)));
  attempt.onClose(() => watchdog.stop());
  if (!request.isStreamingList) return () => watchdog.touch();
  const deadline = new InitialEventsDeadline(clock, (waitedMs) => {
    if (progress.isInitial) fail(noEndBookmark(where, waitedMs));
  });
  attempt.onClose(() => deadline.stop());
  return () => {
    watchdog.touch();
    if (progress.isInitial) deadline.touch();
    else deadline.stop();
  };
}

/** Reads the events of one watch: writes objects into the store, and dispatches the others to the reflector's rules. */
class WatchReader<T> {
  readonly #context: RequestContext<T>;
  readonly #progress: WatchProgress;
  /** The request, for messages. */
  readonly #where: string;

  constructor(context: RequestContext<T>, progress: WatchProgress, where: string) {
    this.#context = context;
    this.#progress = progress;
    this.#where = where;
  }

  read(event: WatchEvent<T>): void {
    switch (event.type) {
      case 'ADDED':
      case 'MODIFIED':
      case 'DELETED':
        this.#object(event.type, event.object);
        break;
      case 'BOOKMARK':
        this.#bookmark(event.object);
        break;
      case 'ERROR':
        this.#context.fail(errorEvent(JSON.stringify(event.object) ?? '', this.#where));
        break;
      default:
        this.#unknown(event);
    }
  }

  /** Skips an event of unknown type. It counts, and its version moves the progress, as in client-go. */
  #unknown(event: { readonly object?: unknown }): void {
    this.#skip('ERR_KUBELOOM_UNKNOWN_EVENT_TYPE', 'an event of an unknown type', event);
    const resourceVersion = resourceVersionOf(event.object) ?? '';
    if (this.#progress.moved('MODIFIED', resourceVersion)) this.#context.moved(resourceVersion, 'watch');
  }

  #object(type: ObjectEventType, object: T): void {
    const { expectedType, writer } = this.#context;
    if (isTable(object)) {
      this.#skip('ERR_KUBELOOM_TABLE', 'a Table in place of an object', object);
    } else if (!metadataAtHand(object)) {
      this.#skip('ERR_KUBELOOM_MALFORMED_EVENT', 'an event whose object has no metadata', object);
    } else if (expectedType && !isOfType(object, expectedType)) {
      const what = `an object that is not a ${describeType(expectedType)}`;
      this.#skip('ERR_KUBELOOM_UNEXPECTED_TYPE', what, object);
    } else {
      writer.apply(type, object, this.#progress.isInitial);
      const resourceVersion = resourceVersionOf(object) ?? '';
      if (this.#progress.moved(type, resourceVersion)) this.#context.moved(resourceVersion, 'watch');
    }
  }

  #bookmark(object: unknown): void {
    const progress = this.#progress;
    const resourceVersion = resourceVersionOf(object);
    if (resourceVersion === undefined) {
      this.#context.fail(malformed('a bookmark without a resourceVersion', this.#where, excerpt(object)));
    } else if (!progress.isInitial) {
      this.#context.writer.bookmark(resourceVersion);
      progress.bookmarked(resourceVersion);
      this.#context.moved(resourceVersion, 'watch');
    } else if (isInitialEventsEnd(object)) {
      progress.initialEventsEnd(resourceVersion);
      this.#context.dispatch({ type: 'initial-events-end', resourceVersion });
    } else {
      progress.bookmarked(resourceVersion);
    }
  }

  /** Skips an event; that alone neither counts it nor moves the progress. */
  #skip(code: string, what: string, value: unknown): void {
    const message = `${this.#where}: the server sent ${what}, and the reflector skipped it: ${excerpt(value)}`;
    this.#context.reports.report(new KubeloomError(code, message), 'decode');
  }
}

/** Returns the type of a value, without its content, which may be a Secret. */
function excerpt(value: unknown): string {
  if (!isRecord(value)) return String(value).slice(0, EXCERPT_CHARACTERS_MAX);
  const { type, kind, apiVersion } = value;
  const name = metadataAtHand(value)?.['name'];
  return JSON.stringify({ type, kind, apiVersion, name }).slice(0, EXCERPT_CHARACTERS_MAX);
}
