/**
 * Compares what a streaming list has brought with a list at exactly its version, beside the watch that has
 * long gone on (client-go's data consistency detector, which panics where this one reports). A list that
 * fails is tried again; after some tries the check is given up with a report.
 */
import type { Clock, Random } from '../clock.ts';
import { KubeloomError, fromErrorMessage } from '../errors.ts';
import { KeySpans, scanKey } from '../json/key-spans.ts';
import type { ConnectionOptions, Query, ReflectorSpec } from '../threads/protocol.ts';
import { ListItems } from '../transport/list-items.ts';
import type { ItemSink } from '../transport/list-items.ts';
import { jittered } from './backoff.ts';
import type { Body } from './body.ts';
import { ErrorBody } from './error-body.ts';
import { Exchange } from './exchange.ts';
import type { ExchangeOwner } from './exchange.ts';
import { answeredWith } from './failure.ts';
import type { Input } from './inbox.ts';
import { frameBytesMax } from './object-writer.ts';
import type { Prepared } from './prepared.ts';
import { exactListQuery } from './queries.ts';
import { retryAfterSeconds } from './retry-after.ts';

import type { StreamedObjects } from './streamed-objects.ts';
import type { TransportPool } from './transport-pool.ts';

export const CHECK_ATTEMPTS_MAX = 5;
const LIST_SILENCE_MAX_MS = 90_000;

export interface CheckHost {
  readonly clock: Clock;
  readonly random: Random;
  readonly transports: TransportPool;
  isPaused(): boolean;
  offer(input: Input): void;
  nextRequest(): number;
  /** Asks for credentials: `prepared` is called with the same number. */
  prepare(request: number, query: Query): void;
  /** The check is over: `report` says that nothing came of it, `inconsistent` that something differs. */
  report(error: KubeloomError): void;
  inconsistent(error: KubeloomError): void;
}

export interface Checked {
  readonly spec: ReflectorSpec;
  /** For messages. */
  readonly where: string;
  readonly resourceVersion: string;
  readonly streamed: StreamedObjects;
}

export class ConsistencyCheck implements ExchangeOwner {
  readonly clock: Clock;
  readonly #host: CheckHost;
  readonly #checked: Checked;
  #attempts = 0;
  #continueToken = '';
  #request: number | undefined;
  #exchange: Exchange | undefined;
  #connection: ConnectionOptions | undefined;
  #cancelTimer: () => void = () => undefined;

  constructor(host: CheckHost, checked: Checked) {
    this.clock = host.clock;
    this.#host = host;
    this.#checked = checked;
  }

  start(): void {
    const { streamed, resourceVersion } = this.#checked;
    if (streamed.isTooMany) this.#giveUp('there are too many objects to be remembered');
    else if (resourceVersion !== '0') this.#attempt();
  }

  /** Ends it without a word. */
  stop(): void {
    this.#cancelTimer();
    this.#close();
  }

  isPreparing(request: number): boolean {
    return this.#request === request;
  }

  prepared({ connection, query = this.#query(), error }: Prepared): void {
    this.#request = undefined;
    this.#cancelTimer();
    if (!connection) {
      this.#failed(error ? fromErrorMessage(error).message : 'there is no connection');
      return;
    }
    try {
      const transport = this.#host.transports.acquire(connection);
      this.#connection = connection;
      const { spec } = this.#checked;
      const path = `${spec.path}?${new URLSearchParams(query).toString()}`;
      this.#exchange = new Exchange(this, transport, path, LIST_SILENCE_MAX_MS, spec.accept?.list);
      if (this.#host.isPaused()) this.#exchange.pause();
    } catch (cause) {
      this.#failed(cause instanceof Error ? cause.message : String(cause));
    }
  }

  pause(): void {
    this.#exchange?.pause();
  }

  resume(): void {
    this.#exchange?.resume();
  }

  offer(input: Input): void {
    this.#host.offer(input);
  }

  /** Nothing here waits for room in the rings. */
  flush(): boolean {
    return true;
  }

  begin(_exchange: Exchange, status: number, headers: Readonly<Record<string, string>>): Body {
    if (status === 200) return new CheckBody(this.#checked, (page) => this.#page(page));
    const retryAfter = retryAfterSeconds(headers);
    return new ErrorBody((text) => {
      const { error, retryAfterMs } = answeredWith('list', status, text, retryAfter, this.#checked.where);
      this.#failed(error.message, retryAfterMs);
    });
  }

  unanswered(error: KubeloomError): void {
    this.#failed(error.message);
  }

  silent(limitMs: number): void {
    this.#failed(`the server has sent nothing for ${limitMs / 1000} s`);
  }

  #attempt(): void {
    this.#attempts++;
    this.#continueToken = '';
    this.#checked.streamed.compare();
    this.#ask();
  }

  #ask(): void {
    const request = this.#host.nextRequest();
    this.#request = request;
    this.#cancelTimer = this.clock.schedule(LIST_SILENCE_MAX_MS, () =>
      this.#failed('no credentials have come'),
    );
    this.#host.prepare(request, this.#query());
  }

  #query(): Query {
    const { spec, resourceVersion } = this.#checked;
    return exactListQuery(spec.query, resourceVersion, this.#continueToken);
  }

  #page(page: Page | KubeloomError): void {
    this.#close();
    const { resourceVersion, streamed } = this.#checked;
    if (page instanceof KubeloomError) {
      this.#failed(page.message);
    } else if (page.resourceVersion !== resourceVersion) {
      this.#failed(`the server has listed at version ${page.resourceVersion} instead`);
    } else if (page.continue !== undefined && page.continue !== this.#continueToken) {
      this.#continueToken = page.continue;
      this.#ask();
    } else {
      const differences = streamed.differences();
      if (differences !== undefined) this.#host.inconsistent(this.#inconsistent(differences));
    }
  }

  #failed(why: string, retryAfterMs = 0): void {
    this.#close();
    if (this.#attempts >= CHECK_ATTEMPTS_MAX) {
      this.#giveUp(why);
      return;
    }
    const { backoffInitialMs, backoffMaxMs } = this.#checked.spec;
    const baseMs = Math.min(backoffInitialMs * 2 ** (this.#attempts - 1), backoffMaxMs);
    const delayMs = jittered({ baseMs, atLeastMs: retryAfterMs }, this.#host.random());
    this.#cancelTimer = this.clock.schedule(delayMs, () => this.#attempt());
  }

  #close(): void {
    this.#request = undefined;
    this.#exchange?.close();
    this.#exchange = undefined;
    if (this.#connection) this.#host.transports.release(this.#connection);
    this.#connection = undefined;
  }

  #giveUp(why: string): void {
    const { where, resourceVersion } = this.#checked;
    this.#host.report(
      new KubeloomError(
        'ERR_KUBELOOM_CONSISTENCY_UNCHECKED',
        `${where}: the streaming list at version ${resourceVersion} could not be checked: ${why}`,
      ),
    );
  }

  #inconsistent(differences: string): KubeloomError {
    const { where, resourceVersion } = this.#checked;
    return new KubeloomError(
      'ERR_KUBELOOM_INCONSISTENT_LIST',
      `${where}: the streaming list and a list, both at version ${resourceVersion}, differ in ${differences}; ` +
        'kubeloom lists again; please report this to whoever makes the server',
    );
  }
}

interface Page {
  readonly resourceVersion: string;
  readonly continue?: string;
}

/** A page of the list, of which only the identities matter. */
class CheckBody implements Body, ItemSink {
  readonly progress: undefined = undefined;
  readonly #items: ListItems;
  readonly #streamed: StreamedObjects;
  readonly #spans: KeySpans = new KeySpans();
  readonly #onPage: (page: Page | KubeloomError) => void;

  constructor({ spec, streamed }: Checked, onPage: (page: Page | KubeloomError) => void) {
    this.#items = new ListItems({ itemBytesMax: frameBytesMax(spec.recordBytesMax) });
    this.#streamed = streamed;
    this.#onPage = onPage;
  }

  write(chunk: Buffer, start: number): number {
    return this.#items.write(chunk, start, this);
  }

  end(error: KubeloomError | undefined): void {
    try {
      if (error) throw error;
      this.#onPage(this.#items.finish());
    } catch (cause) {
      if (!(cause instanceof KubeloomError)) throw cause;
      this.#onPage(cause);
    }
  }

  item(bytes: Buffer, start: number, end: number): boolean {
    if (scanKey(bytes, start, end, this.#spans)) this.#streamed.listed(bytes, this.#spans);
    return true;
  }

  oversized(bytes: Buffer, start: number, end: number): boolean {
    return this.item(bytes, start, end);
  }

  pause(): void {
    // Nothing measures time here.
  }

  resume(): void {
    // Nothing measures time here.
  }

  close(): void {
    // Nothing to be released.
  }
}
