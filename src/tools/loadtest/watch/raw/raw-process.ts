/** The parts that the raw watchers of a process share: the transport, and the common events. */
import { realClock } from '../../../../base/clock.ts';
import type { Clock, Random } from '../../../../base/clock.ts';
import { withCode } from '../../../../base/errors.ts';
import type { HttpTransport } from '../../../../http/http.ts';
import { Http1Transport } from '../../../../http/http1-transport.ts';
import type { ConnectionOptions } from '../../../../kube/connection-options.ts';
import { RawJudge } from '../../verdict/raw-judge.ts';
import type { Truth, WatcherTask } from '../watcher.ts';
import { CommonEvents } from './common-events.ts';

/** Thousands of handshakes at the same moment take their time. */
const CONNECT_TIMEOUT_MS = 60_000;

export interface RawProcessOptions {
  readonly connection: ConnectionOptions;
  /** Returns a connection with new credentials, after the server refused the given connection. */
  readonly renew: (refused: ConnectionOptions) => Promise<ConnectionOptions>;
  /** The start of the run, by `nowUs`. */
  readonly startedUs: number;
  readonly clock?: Clock;
  readonly random?: Random;
}

export class RawProcess implements AsyncDisposable {
  /** The transport of new requests. Every watch uses a separate connection, as separate clients do. */
  transport: HttpTransport;
  readonly clock: Clock;
  readonly random: Random;
  readonly startedUs: number;
  readonly #events = new Map<string, CommonEvents>();
  readonly #judges = new Map<CommonEvents, { readonly truth: Truth; readonly judge: RawJudge }>();
  #watchers = 0;
  /** The present transport, and older transports with unfinished requests. */
  readonly #transports: HttpTransport[] = [];
  readonly #renew: RawProcessOptions['renew'];
  #connection: ConnectionOptions;
  #isRenewing = false;

  constructor(options: RawProcessOptions) {
    const { connection, renew, startedUs, clock = realClock, random = Math.random } = options;
    this.#connection = connection;
    this.#renew = renew;
    this.transport = this.#connect(connection);
    this.startedUs = startedUs;
    this.clock = clock;
    this.random = random;
  }

  /** Returns a number for each new watcher. */
  join(): number {
    return this.#watchers++;
  }

  /** Returns the events of all watchers with the same collection. */
  eventsOf({ resource, namespace, selector }: WatcherTask): CommonEvents {
    const identity = JSON.stringify([resource.group, resource.resource, namespace, selector]);
    const events = this.#events.get(identity) ?? new CommonEvents();
    this.#events.set(identity, events);
    return events;
  }

  judgeOf(events: CommonEvents, truth: Truth): RawJudge {
    const known = this.#judges.get(events);
    if (known?.truth === truth) return known.judge;
    const judge = new RawJudge(events, truth);
    this.#judges.set(events, { truth, judge });
    return judge;
  }

  /**
   * Renews the credentials after the server refused them: the next requests use new credentials. All watchers share a
   * renewal.
   */
  async unauthorized(onError: (error: Error) => void): Promise<void> {
    if (this.#isRenewing) return;
    this.#isRenewing = true;
    try {
      const next = await this.#renew(this.#connection);
      if (JSON.stringify(next) === JSON.stringify(this.#connection)) return;
      this.#connection = next;
      this.transport = this.#connect(next);
    } catch (error) {
      onError(withCode(error));
    } finally {
      this.#isRenewing = false;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#transports.map((each) => each.dispose()));
  }

  #connect(connection: ConnectionOptions): HttpTransport {
    const options = { connectTimeoutMs: CONNECT_TIMEOUT_MS, sharesReadBuffer: true };
    const transport = new Http1Transport(connection, options);
    this.#transports.push(transport);
    return transport;
  }
}
