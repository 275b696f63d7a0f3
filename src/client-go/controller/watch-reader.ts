/** Reads the events of one watch: writes objects into the store, and dispatches the others to the reflector's rules. */
import { KubeloomError } from '../../base/errors.ts';
import type { WatchEvent } from '../../kube/list-watch.ts';
import { isRecord, metadataAtHand, resourceVersionOf } from '../../kube/meta-shape.ts';
import { errorEvent, malformed } from '../../reflector/rules/failure.ts';
import type { Failure, ReflectorEvent } from '../../reflector/rules/state.ts';
import type { StoreWriter, ObjectEventType } from './store-writer.ts';
import type { ErrorReports } from './error-reports.ts';
import { describeType, isInitialEventsEnd, isOfType, isTable } from './expected-type.ts';
import type { ExpectedType } from './expected-type.ts';
import type { WatchProgress } from './watch-progress.ts';

/** Longest excerpt of an unexpected object in a message. */
const EXCERPT_CHARACTERS_MAX = 200;

export interface WatchReaderOptions<T> {
  /** For messages. */
  readonly where: string;
  readonly expectedType: ExpectedType | undefined;
  readonly progress: WatchProgress;
  readonly writer: StoreWriter<T>;
  readonly reports: ErrorReports;
  /** Dispatches an event to the rules. */
  readonly dispatch: (event: ReflectorEvent) => void;
  readonly fail: (failure: Failure) => void;
  /** Called when the watch has reached this version. */
  readonly moved: (resourceVersion: string, by: 'watch') => void;
}

export class WatchReader<T> {
  readonly #options: WatchReaderOptions<T>;

  constructor(options: WatchReaderOptions<T>) {
    this.#options = options;
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
        this.#options.fail(errorEvent(JSON.stringify(event.object) ?? '', this.#options.where));
        break;
      default:
        this.#unknown(event);
    }
  }

  /** Skips an event of unknown type. It counts, and its version moves the progress, as in client-go. */
  #unknown(event: { readonly object?: unknown }): void {
    this.#skip('ERR_KUBELOOM_UNKNOWN_EVENT_TYPE', 'an event of an unknown type', event);
    const resourceVersion = resourceVersionOf(event.object) ?? '';
    if (this.#options.progress.moved('MODIFIED', resourceVersion))
      this.#options.moved(resourceVersion, 'watch');
  }

  #object(type: ObjectEventType, object: T): void {
    const { expectedType, progress, writer } = this.#options;
    if (isTable(object)) {
      this.#skip('ERR_KUBELOOM_TABLE', 'a Table in place of an object', object);
    } else if (!metadataAtHand(object)) {
      this.#skip('ERR_KUBELOOM_MALFORMED_EVENT', 'an event whose object has no metadata', object);
    } else if (expectedType && !isOfType(object, expectedType)) {
      const what = `an object that is not a ${describeType(expectedType)}`;
      this.#skip('ERR_KUBELOOM_UNEXPECTED_TYPE', what, object);
    } else {
      writer.apply(type, object, progress.isInitial);
      const resourceVersion = resourceVersionOf(object) ?? '';
      if (progress.moved(type, resourceVersion)) this.#options.moved(resourceVersion, 'watch');
    }
  }

  #bookmark(object: unknown): void {
    const { progress, writer, where } = this.#options;
    const resourceVersion = resourceVersionOf(object);
    if (resourceVersion === undefined) {
      this.#options.fail(malformed('a bookmark without a resourceVersion', where, excerpt(object)));
    } else if (!progress.isInitial) {
      writer.bookmark(resourceVersion);
      progress.bookmarked(resourceVersion);
      this.#options.moved(resourceVersion, 'watch');
    } else if (isInitialEventsEnd(object)) {
      progress.initialEventsEnd(resourceVersion);
      this.#options.dispatch({ type: 'initial-events-end', resourceVersion });
    } else {
      progress.bookmarked(resourceVersion);
    }
  }

  /** Skips an event; that alone neither counts it nor moves the progress. */
  #skip(code: string, what: string, value: unknown): void {
    const message = `${this.#options.where}: the server sent ${what}, and the reflector skipped it: ${excerpt(value)}`;
    this.#options.reports.report(new KubeloomError(code, message), 'decode');
  }
}

/** Returns the type of a value, without its content, which may be a Secret. */
function excerpt(value: unknown): string {
  if (!isRecord(value)) return String(value).slice(0, EXCERPT_CHARACTERS_MAX);
  const { type, kind, apiVersion } = value;
  const name = metadataAtHand(value)?.['name'];
  return JSON.stringify({ type, kind, apiVersion, name }).slice(0, EXCERPT_CHARACTERS_MAX);
}
