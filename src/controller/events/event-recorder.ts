/**
 * Events about objects, as `kubectl describe` shows them: client-go's EventRecorder. Recording does not wait and does
 * not fail: events are written in sequence in the background, and given up when the server refuses them. The client's
 * fence does not apply to events: an event may also report that the leadership was lost.
 */
import { callGuarded } from '../../base/callbacks.ts';
import { backgroundClock } from '../../base/clock.ts';
import type { Clock, Random } from '../../base/clock.ts';
import { KubeloomError, messageOf } from '../../base/errors.ts';
import { LimitedWarnings } from '../../base/limited-warnings.ts';
import { onAbort } from '../../base/on-abort.ts';
import { aLogger, warnIn } from '../../base/logger.ts';
import type { Logger } from '../../base/logger.ts';
import {
  callback,
  clock as aClock,
  having,
  oneOf,
  invalidOption,
  text,
  checkOptions,
} from '../../base/option-checks.ts';
import type { OptionChecks } from '../../base/option-checks.ts';
import { sleep } from '../../base/sleep.ts';
import { signalOf } from '../../base/signal-options.ts';
import type { SignalOptions } from '../../base/signal-options.ts';
import { apiVersionOf } from '../../kube/resource.ts';
import type { ResourceOf, ResourceRef } from '../../kube/resource.ts';
import { outcomeOf, retryAfterMs } from '../../kube/retry.ts';
import { KubeStatusError } from '../../kube/status.ts';
import { resources } from '../../index.ts';
import type { ObjectClient } from '../object-client.ts';
import { EventCorrelation } from './correlation.ts';
import type { CountedEvent, EventSubject } from './correlation.ts';
import { coreEvent, coreRepetition, newEvent, newRepetition } from './event-content.ts';

/** Options of an EventRecorder. */
export interface EventRecorderOptions {
  /** Name of the program in the events: `web-controller`. */
  readonly component: string;
  /**
   * API of the events. Events of `events.k8s.io/v1` contain an action, and a series in place of counts. Default: `v1`.
   */
  readonly apiVersion?: 'v1' | 'events.k8s.io/v1';
  /** Name of the machine or pod in the events. */
  readonly host?: string;
  /** Called for every event that is given up. Default: a process warning, at most one a second for each reason, with the number of others. */
  readonly onError?: (error: KubeloomError) => void;
  /** Receives a line for events that are given up, at most one a second for each reason. Default: none. */
  readonly log?: Logger;
  /** Clock of intervals and delays. Default: the real clock. */
  readonly clock?: Clock;
  /** Clock of timestamps. Default: the time of the machine. */
  readonly wallNow?: () => Date;
  /** Default: Math.random. */
  readonly random?: Random;
}

const CHECKS: OptionChecks<EventRecorderOptions> = {
  component: text,
  apiVersion: oneOf('v1', 'events.k8s.io/v1'),
  host: text,
  onError: callback,
  log: aLogger,
  clock: aClock,
  wallNow: callback,
  random: callback,
};

/** An Event to record. */
export interface RecordedEvent {
  /** `Warning` if a person should investigate. */
  readonly type: 'Normal' | 'Warning';
  /** Word in CamelCase that programs can compare: `ScalingReplicaSet`. */
  readonly reason: string;
  /** Text for people. Equal events, including the text, are counted in a single object. */
  readonly message: string;
  /** Act of the program, in CamelCase, for `events.k8s.io/v1`. Default: the reason. */
  readonly action?: string;
}

const EVENT_CHECKS: OptionChecks<RecordedEvent> = {
  type: oneOf('Normal', 'Warning'),
  reason: text,
  message: text,
  action: text,
};

/** An entry of a cache, or an object. */
export interface EventObject {
  /** The name is required. Without a namespace the event is written to the namespace `default`. */
  readonly metadata?: {
    readonly name?: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
  };
}

const { events: coreEvents } = resources.core.v1;
const { events: newEvents } = resources.events.v1;
/** Time for pending events after `close`. */
const CLOSE_MAX_MS = 30_000;
const PENDING_MAX = 1000;
const TRIES_MAX = 12;
const RETRY_MS = 10_000;
/** The namespace of events about cluster-scoped objects. */
const DEFAULT_NAMESPACE = 'default';

/** Writes Events about objects in the background, counts repetitions, and limits their rate. */
export class EventRecorder {
  readonly #client: ObjectClient;
  readonly #options: EventRecorderOptions;
  readonly #clock: Clock;
  readonly #correlation: EventCorrelation = new EventCorrelation();
  readonly #closing: AbortController = new AbortController();
  /** Aborted when no more events are written. */
  readonly #over: AbortController = new AbortController();
  readonly #warnings: LimitedWarnings;
  #pending = 0;
  #last: Promise<void> = Promise.resolve();

  /** @throws ERR_KUBELOOM_OPTION */
  constructor(client: ObjectClient, options: EventRecorderOptions) {
    checkOptions('options of an event recorder', options, CHECKS);
    if (!options.component) invalidOption('component', options.component, 'the name of the program');
    having('an ObjectClient', 'plain')('client', client);
    this.#client = client.plain();
    this.#options = options;
    this.#clock = options.clock ?? backgroundClock;
    this.#warnings = new LimitedWarnings(this.#clock);
  }

  /**
   * Records an event about an object, in the object's namespace.
   *
   * @throws ERR_KUBELOOM_OPTION for an object without name, or an event without type, reason or message; the message may be empty
   */
  event(resource: ResourceRef, object: EventObject, event: RecordedEvent): void {
    checkOptions('members of an event', event, EVENT_CHECKS);
    const { type, reason, message, action = reason } = event;
    const isWhole = type && reason && message !== undefined;
    if (!isWhole) invalidOption('an event', event, '{ type, reason, message }');
    const occurrence = { subject: subjectOf(resource, object), type, reason, message };
    if (this.#closing.signal.aborted) return;
    const { wallNow = () => new Date() } = this.#options;
    const counted = this.#correlation.correlate(occurrence, { atMs: this.#clock.now(), wall: wallNow() });
    if (!counted) return;
    if (this.#pending >= PENDING_MAX) {
      this.#giveUp(counted, `${PENDING_MAX} events wait already`);
      return;
    }
    this.#pending++;
    this.#last = this.#last.then(() => this.#write(counted, action)).finally(() => this.#pending--);
  }

  /**
   * Tries each pending event once more, and resolves when none is pending. After 30 s, or when the signal is aborted, it gives up
   * the rest. Later events are ignored.
   */
  async close(options?: SignalOptions): Promise<void> {
    const signal = signalOf('close()', options);
    const end = (): void => this.#over.abort();
    const cancel = this.#clock.schedule(CLOSE_MAX_MS, end);
    const unlisten = signal && onAbort(signal, end);
    this.#closing.abort();
    await this.#last;
    cancel();
    unlisten?.();
    this.#warnings.end();
  }

  /** Closes the recorder: calls `close` without a signal. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #write(event: CountedEvent, action: string): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        this.#over.signal.throwIfAborted();
        await this.#send(event, action);
        return;
      } catch (error) {
        if (error instanceof KubeStatusError && isHarmless(error)) return;
        // An event is created under a fixed name, so a repeated request cannot create it twice.
        const isRefused = outcomeOf(error) === 'refused';
        if (isRefused || tries === TRIES_MAX || this.#closing.signal.aborted) {
          const why = this.#over.signal.aborted ? 'the recorder was closed' : messageOf(error);
          this.#giveUp(event, why, error);
          return;
        }
        await this.#pause(tries, retryAfterMs(error));
      }
    }
  }

  async #send(event: CountedEvent, action: string): Promise<void> {
    const { name, count } = event;
    const { apiVersion = 'v1', component, host } = this.#options;
    const resource: ResourceOf<object> = apiVersion === 'v1' ? coreEvents : newEvents;
    const source = { component, host };
    const { signal } = this.#over;
    const namespace = event.subject.namespace || DEFAULT_NAMESPACE;
    if (count > 1) {
      const patch = apiVersion === 'v1' ? coreRepetition(event) : newRepetition(event);
      try {
        await this.#client.patch(resource, { namespace, name }, patch, { signal });
        return;
      } catch (error) {
        // The server deleted the event: events have a time to live.
        if (!(error instanceof KubeStatusError) || error.code !== 'ERR_KUBELOOM_NOT_FOUND') throw error;
      }
    }
    const content = apiVersion === 'v1' ? coreEvent(event, source) : newEvent(event, source, action);
    await this.#client.create(resource, { metadata: { name, namespace }, ...content }, { signal });
  }

  /** The first delay is random, so that many clients do not return together after a restart of the server. */
  async #pause(tries: number, wantedMs: number): Promise<void> {
    const { random = Math.random } = this.#options;
    const delayMs = wantedMs || (tries === 1 ? RETRY_MS * random() : RETRY_MS);
    await sleep(delayMs, this.#closing.signal, this.#clock).catch(() => undefined);
  }

  #giveUp({ subject: { kind, namespace, name }, reason }: CountedEvent, why: string, cause?: unknown): void {
    const { onError, log } = this.#options;
    const message = `the event ${reason} of ${kind} ${namespace}/${name} is given up: ${why}`;
    const error = new KubeloomError('ERR_KUBELOOM_EVENT_DROPPED', message, { cause });
    const subject = cause instanceof KubeloomError ? cause.code : why;
    if (log || !onError)
      this.#warnings.limit(subject, (more) => warnIn(log, error, `${error.message}${more}`));
    // A failure of the program's function must not end the writing of later events.
    const report = (fault: KubeloomError): void => warnIn(log, fault);
    if (onError) callGuarded('onError', () => onError(error), report);
  }
}

/** Returns whether the event need not be reported: it exists, or the namespace is being deleted. */
function isHarmless({ code, causes }: KubeStatusError): boolean {
  return (
    code === 'ERR_KUBELOOM_ALREADY_EXISTS' || causes.some(({ reason }) => reason === 'NamespaceTerminating')
  );
}

function subjectOf(resource: ResourceRef, { metadata = {} }: EventObject): EventSubject {
  const { name = '', namespace = '', uid = '', resourceVersion = '' } = metadata;
  if (name === '') invalidOption('the object of an event', metadata, 'one with a name');
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, namespace, name, uid, resourceVersion };
}
