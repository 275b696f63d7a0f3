/**
 * The rules of list-and-watch at work on one thread: the second executor of the pure function `step`, with
 * the functions of a ListerWatcher where the reflector thread has sockets, and a store or queue where that
 * has rings. It has no rules of its own.
 */
import type { Clock, Random } from '../clock.ts';
import { KubeloomError } from '../errors.ts';
import type { ListerWatcher } from '../kube/list-watch.ts';
import { DeltaKind } from '../record/delta.ts';
import { jittered } from '../reflector/backoff.ts';
import { torn } from '../reflector/failure.ts';
import type { Effect, Failure, Memory, ReflectorEvent, State } from '../reflector/state.ts';
import { step } from '../reflector/step.ts';
import type { Query, ReflectorPhase } from '../threads/protocol.ts';
import { Attempt } from './attempt.ts';
import { ConsistencyCheck } from './consistency-check.ts';
import type { Destination } from './destination.ts';
import type { ErrorReports } from './error-reports.ts';
import { runList } from './list-request.ts';
import type { RequestContext } from './list-request.ts';
import type { ExpectedType } from './shape.ts';
import { answerIn, errorOf } from './thrown.ts';
import { runWatch } from './watch-request.ts';

export interface ListAndWatchOptions<T> {
  /** For messages. */
  readonly name: string;
  readonly listerWatcher: ListerWatcher<T>;
  readonly expectedType: ExpectedType | undefined;
  readonly destination: Destination<T>;
  readonly reports: ErrorReports;
  readonly clock: Clock;
  readonly random: Random;
  /** 1: up to as much again. */
  readonly jitter: number;
  /** Ends with the first failure that leads to a new list, before waiting. */
  readonly isSingle: boolean;
  /** A list is in the destination, or the watch has come as far as this. */
  readonly moved: (resourceVersion: string, by: 'list' | 'watch') => void;
  readonly phase: (phase: ReflectorPhase) => void;
}

/** How an iteration ended. */
export interface Ending {
  /** For the next iteration. */
  readonly memory: Memory;
  /** Why it never came to watch; undefined when it was stopped or a watch had been open. */
  readonly error: KubeloomError | undefined;
}

export class ListAndWatch<T> {
  readonly #options: ListAndWatchOptions<T>;
  readonly #context: RequestContext<T>;
  #state: State;
  #memory: Memory;
  readonly #effects: Effect[] = [];
  #isPerforming = false;
  #attempt: Attempt | undefined;
  #isOpen = false;
  #lastFailure: Failure | undefined;
  #cancelTimer: () => void = () => undefined;
  #streamed: T[] = [];
  #check: ConsistencyCheck<T> | undefined;
  #isOver = false;
  #finish: (ending: Ending) => void = () => undefined;
  #crash: (error: unknown) => void = () => undefined;

  constructor(options: ListAndWatchOptions<T>, memory: Memory) {
    this.#options = options;
    this.#memory = memory;
    this.#state = { kind: 'idle', memory, first: 'sync' };
    this.#context = {
      ...options,
      opened: () => this.#opened(),
      dispatch: (event) => this.#dispatch(event),
      fail: (failure) => this.#fail(failure),
    };
  }

  /** Resolves when it is stopped, or the only iteration is over. Rejects for nothing but errors of its own. */
  run(): Promise<Ending> {
    const ending = new Promise<Ending>((resolve, reject) => {
      this.#finish = resolve;
      this.#crash = reject;
    });
    this.#dispatch({ type: 'start' });
    return ending;
  }

  stop(): void {
    this.#lastFailure = undefined;
    // What has not been begun need not begin.
    this.#effects.length = 0;
    this.#dispatch({ type: 'stop' });
  }

  /** Nothing more is written to the destination. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The destination could not resync: a failure of the watch, unless there is none. */
  resyncFailed(error: KubeloomError): void {
    if (this.#state.kind === 'watching') this.#fail(torn('watch', error));
    else this.#options.reports.report(error, 'resync');
  }

  #dispatch(event: ReflectorEvent): void {
    const { state, effects } = step(this.#state, event, this.#options.clock.now());
    this.#state = state;
    if (state.kind !== 'stopped') this.#memory = state.memory;
    this.#effects.push(...effects);
    if (this.#isPerforming) return;
    this.#isPerforming = true;
    try {
      for (let effect = this.#effects.shift(); effect; effect = this.#effects.shift()) this.#perform(effect);
    } finally {
      this.#isPerforming = false;
    }
  }

  #fail(failure: Failure): void {
    this.#lastFailure = failure;
    const progress = this.#attempt?.position?.at(this.#options.clock.now());
    this.#dispatch({ type: 'failed', failure, ...(progress ? { progress } : {}) });
  }

  #perform(effect: Effect): void {
    switch (effect.type) {
      case 'list':
        this.#begin((attempt) => runList(attempt, effect.query, this.#context));
        break;
      case 'watch':
        this.#begin((attempt) => this.#watch(attempt, effect.query));
        break;
      case 'close':
        this.#close();
        break;
      case 'control':
        this.#control(effect.kind, effect.resourceVersion);
        break;
      case 'wait':
        this.#wait(jittered(effect.delay, this.#options.random() * this.#options.jitter));
        break;
      case 'check':
        this.#checkConsistency(effect.resourceVersion);
        break;
      case 'abandon-check':
        this.#check?.abandon();
        break;
      case 'report':
        this.#options.reports.report(effect.error, effect.during);
        break;
      case 'phase':
        this.#options.phase(effect.phase);
        break;
      default:
        this.#end(undefined);
    }
  }

  #control(kind: DeltaKind, resourceVersion: string): void {
    const { destination } = this.#options;
    if (kind === DeltaKind.ReplaceBegin) destination.beginReplace();
    else if (kind === DeltaKind.ReplaceAbort) destination.abortReplace();
    else if (kind === DeltaKind.ReplaceEnd) this.#replace(resourceVersion);
  }

  #replace(resourceVersion: string): void {
    const { destination, moved } = this.#options;
    // Copied before a transform can write to them.
    if (this.#memory.spec.checkConsistency) this.#streamed = structuredClone(destination.pending());
    try {
      destination.endReplace(resourceVersion);
    } catch (error) {
      // Nothing of what was to follow this list happens.
      this.#effects.length = 0;
      this.#fail(torn('list', errorOf('list', error, `${this.#options.name}: LIST`)));
      return;
    }
    moved(resourceVersion, 'list');
  }

  #wait(delayMs: number): void {
    if (this.#options.isSingle && this.#isIterationOver()) this.#end(this.#reasonOfEnding());
    else this.#cancelTimer = this.#options.clock.schedule(delayMs, () => this.#dispatch({ type: 'timer' }));
  }

  /** What the same list or watch can be asked for again belongs to the same iteration. */
  #isIterationOver(): boolean {
    if (this.#state.kind === 'backing-off' && this.#state.next === 'watch') return false;
    const failure = this.#lastFailure;
    const isTransient = failure?.kind === 'unreachable' || failure?.kind === 'too-many-requests';
    return !(failure?.during === 'watch' && isTransient);
  }

  #reasonOfEnding(): KubeloomError | undefined {
    const failure = this.#lastFailure;
    return failure?.during === 'list' || !this.#isOpen ? failure?.error : undefined;
  }

  #end(error: KubeloomError | undefined): void {
    this.#cancelTimer();
    this.#close();
    this.#check?.abandon();
    this.#options.destination.abortReplace();
    this.#isOver = true;
    this.#finish({ memory: this.#memory, error });
  }

  #begin(request: (attempt: Attempt) => Promise<void>): void {
    this.#close();
    this.#isOpen = false;
    const attempt = new Attempt();
    this.#attempt = attempt;
    request(attempt).catch(this.#crash);
  }

  #close(): void {
    this.#cancelTimer();
    this.#attempt?.close();
    this.#attempt = undefined;
  }

  #watch(attempt: Attempt, query: Query): Promise<void> {
    const isStreamingList = this.#state.kind === 'streaming-list';
    return runWatch(
      attempt,
      { query, isStreamingList, timeoutSeconds: this.#timeoutSeconds() },
      this.#context,
    );
  }

  #opened(): void {
    this.#isOpen = true;
    this.#lastFailure = undefined;
    this.#dispatch({ type: 'opened' });
  }

  #checkConsistency(resourceVersion: string): void {
    this.#check?.abandon();
    const { listerWatcher, clock } = this.#options;
    const streamed = this.#streamed;
    this.#streamed = [];
    this.#check = new ConsistencyCheck(async (options, signal) => {
      try {
        return await listerWatcher.list(options, signal);
      } catch (thrown) {
        if (answerIn('list', thrown, `${this.#options.name}: LIST`)?.kind === 'expired') return undefined;
        throw thrown;
      }
    }, clock);
    this.#check.start(streamed, resourceVersion, {
      differs: (error) => this.#dispatch({ type: 'inconsistent', error }),
      unchecked: (error) => this.#options.reports.report(error, 'list'),
    });
  }

  #timeoutSeconds(): number {
    const { watchTimeoutMinSeconds: min, watchTimeoutMaxSeconds: max } = this.#memory.spec;
    return Math.floor(min + this.#options.random() * (max - min));
  }
}
