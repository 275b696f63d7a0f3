/** Opens a watch or streaming list, and reads it until it ends, fails, times out, or is cancelled. */
import { statusText } from '../../kube/status.ts';
import type { ErrorCode } from '../../base/error-codes/error-table.ts';
import { KubeloomError, wrapped } from '../../base/errors.ts';
import { identityText } from '../../base/quotable.ts';
import { listOptionsOf } from '../../kube/lister-watcher.ts';
import type { Watch, WatchEvent } from '../../kube/lister-watcher.ts';
import { isRecord, metadataAtHand, resourceVersionOf } from '../../kube/meta-shape.ts';
import { errorEvent, malformed, noEndBookmark, stalled } from '../../reflector/rules/failure.ts';
import { beginsWithSyntheticEvents } from '../../http/queries.ts';
import type { Progress } from '../../reflector/rules/state.ts';
import { InitialEventsDeadline, Watchdog } from '../../http/watchdog.ts';
import type { Query } from '../../kube/connection-options.ts';
import { describeType, isInitialEventsEnd, isOfType, isTable } from './expected-type.ts';
import type { RequestAttempt, RequestContext } from './list-request.ts';
import { answerIn, errorOf, failureOf, malformedIn } from './lister-watcher-errors.ts';
import type { ObjectEventType } from './store-writer.ts';

/** The server ends a watch after `timeoutSeconds`; a watch that lasts this much longer is ended by the client. */
const WATCH_MARGIN_MS = 30_000;

/**
 * A watch without a start version begins with synthetic ADDED events in no order: their resourceVersions are held back
 * until the first event of another type.
 */
type Stage =
  /** Objects of a streaming list before the end bookmark. */
  'initial-events' | 'synthetic' | 'live';

export class WatchRequest<T> {
  readonly #context: RequestContext<T>;
  readonly #attempt: RequestAttempt;
  readonly #query: Query;
  readonly #timeoutSeconds: number;
  /** The request, for messages. */
  readonly #where: string;
  #stage: Stage;
  #openedAt = 0;
  #resourceVersion: string;
  #events = 0;

  constructor(
    context: RequestContext<T>,
    attempt: RequestAttempt,
    query: Query,
    options: { readonly isStreamingList: boolean; readonly timeoutSeconds: number },
  ) {
    this.#context = context;
    this.#attempt = attempt;
    this.#query = query;
    this.#timeoutSeconds = options.timeoutSeconds;
    this.#where = `${context.name}: WATCH`;
    this.#resourceVersion = query['resourceVersion'] ?? '';
    if (options.isStreamingList) this.#stage = 'initial-events';
    else this.#stage = beginsWithSyntheticEvents(query) ? 'synthetic' : 'live';
  }

  /** Rejects only for internal errors. */
  async run(): Promise<void> {
    const attempt = this.#attempt;
    let watch: Watch<T>;
    try {
      const options = { ...listOptionsOf(this.#query), timeoutSeconds: this.#timeoutSeconds };
      watch = await this.#context.listerWatcher.watch(options, attempt.signal);
      requireWatch(watch, this.#where);
    } catch (thrown) {
      if (!attempt.isClosed) this.#context.fail(failureOf('watch', thrown, this.#where));
      return;
    }
    attempt.onClose(() => this.#stop(watch));
    if (!attempt.isClosed) await this.#read(watch);
  }

  /** Returns the progress of the watch. */
  progress(): Progress {
    return {
      resourceVersion: this.#resourceVersion,
      events: this.#events,
      durationMs: this.#context.clock.now() - this.#openedAt,
    };
  }

  /** Stops the watch and reports an error. It must not reach the caller, which may be the user's own `abort()`. */
  #stop(watch: Watch<T>): void {
    try {
      watch.stop();
    } catch (cause) {
      const error = wrapped('ERR_KUBELOOM_LISTER_WATCHER', `${this.#where}: stop() failed`, cause);
      this.#context.reports.report(error, 'watch');
    }
  }

  async #read(watch: Watch<T>): Promise<void> {
    const attempt = this.#attempt;
    this.#openedAt = this.#context.clock.now();
    attempt.progress = () => this.progress();
    const touch = this.#noticeSilence();
    this.#context.opened();
    try {
      for await (const event of watch) {
        if (attempt.isClosed) return;
        touch();
        this.#event(event);
        // The event may have ended this watch.
        if (attempt.isClosed) return;
      }
    } catch (thrown) {
      if (attempt.isClosed) return;
      const failure = answerIn('watch', thrown, this.#where) ?? malformedIn(thrown);
      const progress = this.progress();
      attempt.close();
      if (failure) this.#context.fail(failure);
      else this.#context.dispatch({ type: 'closed', progress, error: errorOf('watch', thrown, this.#where) });
      return;
    }
    if (attempt.isClosed) return;
    attempt.close();
    this.#context.dispatch({ type: 'closed', progress: this.progress() });
  }

  /** @returns a function to call for every received event */
  #noticeSilence(): () => void {
    const { clock, fail } = this.#context;
    const limitMs = this.#timeoutSeconds * 1000 + WATCH_MARGIN_MS;
    const watchdog = new Watchdog(clock, limitMs, () => fail(stalled('watch', this.#where, limitMs)));
    this.#attempt.onClose(() => watchdog.stop());
    if (!this.#isInitial) return () => watchdog.touch();
    const deadline = new InitialEventsDeadline(clock, (waitedMs) => {
      if (this.#isInitial) fail(noEndBookmark(this.#where, waitedMs));
    });
    this.#attempt.onClose(() => deadline.stop());
    return () => {
      watchdog.touch();
      if (this.#isInitial) deadline.touch();
      else deadline.stop();
    };
  }

  /** Writes an object into the store, and dispatches any other event to the reflector's rules. */
  #event(event: WatchEvent<T>): void {
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
        this.#context.fail(errorEvent(statusText(event.object, 'an ERROR event without JSON'), this.#where));
        break;
      default:
        this.#unknown(event);
    }
  }

  #object(type: ObjectEventType, object: T): void {
    const { expectedType, writer } = this.#context;
    if (isTable(object)) {
      this.#skip('ERR_KUBELOOM_UNEXPECTED_OBJECT', 'a Table in place of an object', object);
    } else if (!metadataAtHand(object)) {
      this.#skip('ERR_KUBELOOM_MALFORMED_EVENT', 'an event whose object has no metadata', object);
    } else if (expectedType && !isOfType(object, expectedType)) {
      const what = `an object that is not a ${describeType(expectedType)}`;
      this.#skip('ERR_KUBELOOM_UNEXPECTED_OBJECT', what, object);
    } else {
      writer.apply(type, object, this.#isInitial);
      this.#processed(type, object);
    }
  }

  #bookmark(object: unknown): void {
    const resourceVersion = resourceVersionOf(object);
    if (resourceVersion === undefined) {
      this.#context.fail(malformed('a bookmark without a resourceVersion', this.#where, excerpt(object)));
      return;
    }
    this.#events++;
    if (!this.#isInitial) {
      this.#context.writer.bookmark(resourceVersion);
      this.#moveTo(resourceVersion);
      this.#context.moved(resourceVersion, 'watch');
    } else if (isInitialEventsEnd(object)) {
      this.#moveTo(resourceVersion);
      this.#context.dispatch({ type: 'initial-events-end', resourceVersion });
    }
  }

  /** Skips an event of unknown type. The event counts, and the version moves the progress, as in client-go. */
  #unknown(event: { readonly object?: unknown }): void {
    this.#skip('ERR_KUBELOOM_MALFORMED_EVENT', 'an event of an unknown type', event);
    this.#processed('MODIFIED', event.object);
  }

  /** Skips an event, without counting it or moving the progress. */
  #skip(code: ErrorCode, what: string, value: unknown): void {
    const message = `${this.#where}: the server sent ${what}, and the reflector skipped it: ${excerpt(value)}`;
    this.#context.reports.report(new KubeloomError(code, message), 'decode');
  }

  #processed(type: ObjectEventType, object: unknown): void {
    this.#events++;
    if (this.#isInitial) return;
    if (this.#stage === 'synthetic' && type === 'ADDED') return;
    const resourceVersion = resourceVersionOf(object) ?? '';
    this.#moveTo(resourceVersion);
    if (resourceVersion !== '') this.#context.moved(resourceVersion, 'watch');
  }

  get #isInitial(): boolean {
    return this.#stage === 'initial-events';
  }

  #moveTo(resourceVersion: string): void {
    this.#stage = 'live';
    if (resourceVersion !== '') this.#resourceVersion = resourceVersion;
  }
}

/** Throws unless the value is a watch. A watch without `stop` could not be ended. */
function requireWatch(watch: unknown, where: string): void {
  if (isRecord(watch) && typeof watch['stop'] === 'function' && Symbol.asyncIterator in watch) return;
  const message = `${where} did not return a watch: an async iterable with stop()`;
  throw new KubeloomError('ERR_KUBELOOM_LISTER_WATCHER', message);
}

/** Describes a value without the content, which may be a Secret. */
function excerpt(value: unknown): string {
  if (!isRecord(value)) return value === null ? 'null' : typeof value;
  const { type, kind, apiVersion } = value;
  const name = metadataAtHand(value)?.['name'];
  return identityText({ type, kind, apiVersion, name }) || 'an object without a kind and a name';
}
