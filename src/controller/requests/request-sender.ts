/**
 * The sending half of the client: the signals that end a write, the need for a precondition, and the receivers of
 * answers and warnings. Clients on the same connections differ only in these rules.
 */
import { callGuarded, warn } from '../../base/callbacks.ts';
import { realClock } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { KubeloomError } from '../../base/errors.ts';
import { jsonText } from '../../base/json-text.ts';
import { outcomeOf } from '../../kube/retry.ts';
import type { ResourceRef } from '../../kube/resource.ts';
import type { ServerSource } from '../../kube/server-source.ts';
import type { KubeObject } from '../../kube/wire.ts';
import { ApiClient } from '../../http/api-client.ts';
import type { SendRequest } from '../../http/api-client.ts';
import { checkExactIntegers, largeIntegersOf } from './exact-integers.ts';
import { checkPrecondition } from './precondition.ts';
import { repeatedRead } from './repeated-read.ts';
import type { ObjectClientOptions, WarningListener } from './request-options.ts';
import { warningsOf } from './warning-header.ts';

/** Receives the answer to a write: the stored object; after a deletion, the last state or a Status. */
export type WriteListener = (resource: ResourceRef, answer: KubeObject) => void;

/** Receives the collection of a write whose outcome is unknown. */
export type UnconfirmedListener = (resource: ResourceRef, namespace: string) => void;

/** Rules for writes. */
interface WriteRules {
  /** Each signal ends a write. */
  readonly signals: readonly AbortSignal[];
  /** Whether writes need a precondition. */
  readonly isFenced: boolean;
  readonly onWritten?: WriteListener | undefined;
  readonly onUnconfirmed?: UnconfirmedListener | undefined;
}

/** A request that writes. */
export interface WriteRequest extends Pick<SendRequest, 'path' | 'body' | 'contentType'> {
  readonly method: Exclude<SendRequest['method'], 'GET'>;
  /** The server stores no change, so the change never reaches a cache. */
  readonly isDryRun: boolean;
  /** Path of the object as stored, for a write of an object that may have been read before. */
  readonly stored?: string;
}

const NO_RULES: WriteRules = { signals: [], isFenced: false };
/** Different texts of warnings that a process reports once. */
const REPORTED_MAX = 1000;

export class RequestSender {
  readonly #api: ApiClient;
  readonly #clock: Clock;
  readonly #onWarning: WarningListener;
  readonly #rules: WriteRules;

  constructor(api: ApiClient, options: ObjectClientOptions, rules: WriteRules = NO_RULES) {
    this.#api = api;
    this.#clock = options.clock ?? realClock;
    this.#onWarning = options.onWarning ?? reportedOnce();
    this.#rules = rules;
  }

  static on(source: ServerSource, options: ObjectClientOptions): RequestSender {
    return new RequestSender(new ApiClient(source), options);
  }

  /** Returns a sender on the same connections with other rules. */
  with(rules: Partial<WriteRules>): RequestSender {
    const options = { clock: this.#clock, onWarning: this.#onWarning };
    return new RequestSender(this.#api, options, { ...this.#rules, ...rules });
  }

  /** Returns a sender on the same connections that sends no write after the signal was aborted. */
  until(signal: AbortSignal): RequestSender {
    return this.with({ signals: [...this.#rules.signals, signal] });
  }

  /** Returns a sender on the same connections without rules. */
  plain(): RequestSender {
    return this.with({ onWritten: undefined, onUnconfirmed: undefined, ...NO_RULES });
  }

  /** Sends a GET, and repeats it when the server is overloaded or the connection breaks. */
  read(path: string, signal: AbortSignal | undefined): Promise<unknown> {
    return repeatedRead(() => this.readOnce(path, signal), this.#clock, signal);
  }

  readOnce(path: string, signal: AbortSignal | undefined): Promise<unknown> {
    return this.#api.send(this.#requestOf({ method: 'GET', path }, signal ? [signal] : []));
  }

  /**
   * Sends a write, once.
   *
   * @throws ERR_KUBELOOM_OPTION without a precondition that the rules demand
   */
  async write(
    resource: ResourceRef,
    request: WriteRequest,
    signal: AbortSignal | undefined,
  ): Promise<unknown> {
    const { signals: own, isFenced, onWritten, onUnconfirmed } = this.#rules;
    const { method, path, body, contentType, isDryRun } = request;
    for (const each of own) each.throwIfAborted();
    if (isFenced) checkPrecondition(resource, request);
    await this.#checkIntegers(request, signal);
    const signals = signal ? [...own, signal] : own;
    const type = contentType === undefined ? {} : { contentType };
    try {
      const answer = await this.#api.send(
        this.#requestOf({ method, path, ...type, ...(body ? { body } : {}) }, signals),
      );
      if (!isDryRun) onWritten?.(resource, answer as KubeObject);
      return answer;
    } catch (error) {
      // A signal may have been aborted before or after the write was sent.
      const isOpen = outcomeOf(error) === 'unconfirmed' || signal?.aborted;
      if (isOpen && !isDryRun) onUnconfirmed?.(resource, namespaceIn(path));
      throw error;
    }
  }

  /** Compares with the stored object, only if the object that is sent contains an integer beyond 2^53. */
  async #checkIntegers(request: WriteRequest, signal: AbortSignal | undefined): Promise<void> {
    const { method, path, body, stored } = request;
    if (stored === undefined || body === undefined) return;
    const sent = largeIntegersOf(textOf(body));
    if (sent.size === 0) return;
    const signals = signal ? [signal] : [];
    const read = (): Promise<string> =>
      this.#api.sendForText(this.#requestOf({ method: 'GET', path: stored }, signals));
    try {
      const text = await repeatedRead(read, this.#clock, signal);
      checkExactIntegers(sent, text, `${method} ${path.split('?', 1)[0]}`);
    } catch (error) {
      if (!(error instanceof KubeloomError) || error.code !== 'ERR_KUBELOOM_NOT_FOUND') throw error;
    }
  }

  #requestOf(
    request: Omit<SendRequest, 'signals' | 'onWarning'>,
    signals: readonly AbortSignal[],
  ): SendRequest {
    const what = `${request.method} ${request.path.split('?', 1)[0]}`;
    const onWarning = (header: string): void => {
      for (const text of warningsOf(header)) callGuarded('onWarning', () => this.#onWarning(text, what));
    };
    return { ...request, signals, onWarning };
  }
}

/** Returns a listener that makes each text a process warning, once. */
function reportedOnce(): WarningListener {
  const reported = new Set<string>();
  return (text, request) => {
    if (reported.has(text) || reported.size >= REPORTED_MAX) return;
    reported.add(text);
    warn(new KubeloomError('ERR_KUBELOOM_SERVER_WARNING', `${request}: the server warns: ${text}`));
  };
}

/** Returns the JSON of a body, '' for a body that is no JSON: sending it throws. */
function textOf(body: object): string {
  try {
    return jsonText(body);
  } catch {
    return '';
  }
}

/** Returns the namespace in the path of a request; '' if there is none. */
function namespaceIn(path: string): string {
  return decodeURIComponent(/\/namespaces\/([^/]+)\//.exec(path)?.[1] ?? '');
}
