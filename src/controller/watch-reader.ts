/** The events of one watch: into the destination, or as what they mean for the reflector's rules. */
import { KubeloomError } from '../errors.ts';
import type { WatchEvent } from '../kube/list-watch.ts';
import { isRecord, metadataAtHand, resourceVersionOf } from '../kube/meta-shape.ts';
import { errorEvent, malformed } from '../reflector/failure.ts';
import type { Failure, ReflectorEvent } from '../reflector/state.ts';
import type { Destination, ObjectEventType } from './destination.ts';
import type { ErrorReports } from './error-reports.ts';
import { describeType, isInitialEventsEnd, isOfType, isTable } from './shape.ts';
import type { ExpectedType } from './shape.ts';
import type { WatchPosition } from './watch-position.ts';

/** Of a wrong object in a message. */
const EXCERPT_CHARACTERS_MAX = 200;

export interface WatchReaderOptions<T> {
  /** For messages. */
  readonly where: string;
  readonly expectedType: ExpectedType | undefined;
  readonly position: WatchPosition;
  readonly destination: Destination<T>;
  readonly reports: ErrorReports;
  /** Takes a step of the rules. */
  readonly dispatch: (event: ReflectorEvent) => void;
  readonly fail: (failure: Failure) => void;
  /** The watch has come as far as this. */
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

  /** Counts, and its version is how far the watch has come, as in client-go. */
  #unknown(event: { readonly object?: unknown }): void {
    this.#skip('ERR_KUBELOOM_UNKNOWN_EVENT_TYPE', 'an event of an unknown type', event);
    const resourceVersion = resourceVersionOf(event.object) ?? '';
    if (this.#options.position.moved('MODIFIED', resourceVersion))
      this.#options.moved(resourceVersion, 'watch');
  }

  #object(type: ObjectEventType, object: T): void {
    const { expectedType, position, destination } = this.#options;
    if (isTable(object)) {
      this.#skip('ERR_KUBELOOM_TABLE', 'a Table in place of an object', object);
    } else if (!metadataAtHand(object)) {
      this.#skip('ERR_KUBELOOM_MALFORMED_EVENT', 'an event whose object has no metadata', object);
    } else if (expectedType && !isOfType(object, expectedType)) {
      const what = `an object that is not a ${describeType(expectedType)}`;
      this.#skip('ERR_KUBELOOM_UNEXPECTED_TYPE', what, object);
    } else {
      destination.apply(type, object, position.isInitial);
      const resourceVersion = resourceVersionOf(object) ?? '';
      if (position.moved(type, resourceVersion)) this.#options.moved(resourceVersion, 'watch');
    }
  }

  #bookmark(object: unknown): void {
    const { position, destination, where } = this.#options;
    const resourceVersion = resourceVersionOf(object);
    if (resourceVersion === undefined) {
      this.#options.fail(malformed('a bookmark without a resourceVersion', where, excerpt(object)));
    } else if (!position.isInitial) {
      destination.bookmark(resourceVersion);
      position.bookmarked(resourceVersion);
      this.#options.moved(resourceVersion, 'watch');
    } else if (isInitialEventsEnd(object)) {
      position.initialEventsEnd(resourceVersion);
      this.#options.dispatch({ type: 'initial-events-end', resourceVersion });
    } else {
      position.bookmarked(resourceVersion);
    }
  }

  /** Not stored; by itself it neither counts nor moves the version. */
  #skip(code: string, what: string, value: unknown): void {
    const message = `${this.#options.where}: the server sent ${what}, which was skipped: ${excerpt(value)}`;
    this.#options.reports.report(new KubeloomError(code, message), 'decode');
  }
}

/** What something is, not what is in it: it may be a Secret. */
function excerpt(value: unknown): string {
  if (!isRecord(value)) return String(value).slice(0, EXCERPT_CHARACTERS_MAX);
  const { type, kind, apiVersion } = value;
  const name = metadataAtHand(value)?.['name'];
  return JSON.stringify({ type, kind, apiVersion, name }).slice(0, EXCERPT_CHARACTERS_MAX);
}
