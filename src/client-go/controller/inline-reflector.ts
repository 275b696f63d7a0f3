/**
 * Runs the rules of list-and-watch on the calling thread: the second executor of the pure function `step`. It calls the
 * functions of a ListerWatcher where the reflector thread uses sockets, and writes into a store or queue instead of
 * rings. It adds no rules.
 */
import type { Random } from '../../base/clock.ts';
import { wrapped } from '../../base/errors.ts';
import type { KubeloomError } from '../../base/errors.ts';
import { DeltaKind } from '../../shared/record/delta.ts';
import { jittered } from '../../base/backoff.ts';
import { torn } from '../../reflector/rules/failure.ts';
import type { Effect, Failure, Memory, ReflectorEvent, State } from '../../reflector/rules/state.ts';
import { step } from '../../reflector/rules/step.ts';
import type { ReflectorPhase } from '../../shared/protocol.ts';
import type { Query } from '../../kube/connection-options.ts';
import { RequestAttempt, runList } from './list-request.ts';
import type { RequestContext } from './list-request.ts';
import { errorOf } from './lister-watcher-errors.ts';
import { WatchRequest } from './watch-request.ts';

export interface InlineReflectorOptions<T> extends Omit<RequestContext<T>, 'opened' | 'dispatch' | 'fail'> {
  readonly random: Random;
  /** Random share added to a delay; 1 adds up to 100 %. */
  readonly jitter: number;
  /** Ends with the first failure that leads to a new list, before the delay. */
  readonly isSingle: boolean;
  readonly phase: (phase: ReflectorPhase) => void;
}

/** The end of an iteration. */
export interface Ending {
  /** State for the next iteration. */
  readonly memory: Memory;
  /** Reason why no watch was opened; undefined if the reflector was stopped or a watch was open before. */
  readonly error: KubeloomError | undefined;
}

export class InlineReflector<T> {
  readonly #options: InlineReflectorOptions<T>;
  readonly #context: RequestContext<T>;
  #state: State;
  #memory: Memory;
  readonly #effects: Effect[] = [];
  #isPerforming = false;
  #attempt: RequestAttempt | undefined;
  #isOpen = false;
  #lastFailure: Failure | undefined;
  #cancelTimer: () => void = () => undefined;
  #isOver = false;
  #finish: (ending: Ending) => void = () => undefined;
  #crash: (error: unknown) => void = () => undefined;

  constructor(options: InlineReflectorOptions<T>, memory: Memory) {
    this.#options = options;
    this.#memory = memory;
    this.#state = { kind: 'idle', memory };
    this.#context = {
      ...options,
      opened: () => this.#opened(),
      dispatch: (event) => this.#dispatch(event),
      fail: (failure) => this.#fail(failure),
    };
  }

  /** Runs until it is stopped, or for a single iteration. Rejects only for internal errors. */
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
    // Effects that have not begun are dropped.
    this.#effects.length = 0;
    this.#dispatch({ type: 'stop' });
  }

  /** Resyncs the store. An error counts as a failure of the watch, if a watch is open. */
  resync(shouldResync: () => boolean): void {
    if (this.#isOver) return;
    const { name, reports, writer } = this.#options;
    try {
      if (shouldResync()) writer.resync();
    } catch (cause) {
      const error = wrapped('ERR_KUBELOOM_STORE_WRITE', `${name}: the resync failed`, cause);
      if (this.#state.kind === 'watching') this.#fail(torn('watch', error));
      else reports.report(error, 'resync');
    }
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
    const progress = this.#attempt?.progress?.();
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
    const { writer } = this.#options;
    if (kind === DeltaKind.ReplaceBegin) writer.beginReplace();
    else if (kind === DeltaKind.ReplaceAbort) writer.abortReplace();
    else if (kind === DeltaKind.ReplaceEnd) this.#replace(resourceVersion);
  }

  #replace(resourceVersion: string): void {
    const { writer, moved } = this.#options;
    try {
      writer.endReplace(resourceVersion);
    } catch (error) {
      // Effects that should follow this list are dropped.
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

  /** Returns whether the iteration is over. Retries of the same list or watch belong to the same iteration. */
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
    this.#options.writer.abortReplace();
    this.#isOver = true;
    this.#finish({ memory: this.#memory, error });
  }

  #begin(request: (attempt: RequestAttempt) => Promise<void>): void {
    this.#close();
    this.#isOpen = false;
    const attempt = new RequestAttempt();
    this.#attempt = attempt;
    request(attempt).catch(this.#crash);
  }

  #close(): void {
    this.#cancelTimer();
    this.#attempt?.close();
    this.#attempt = undefined;
  }

  #opened(): void {
    this.#isOpen = true;
    this.#lastFailure = undefined;
    this.#dispatch({ type: 'opened' });
  }

  #watch(attempt: RequestAttempt, query: Query): Promise<void> {
    const { watchTimeoutMinSeconds: min, watchTimeoutMaxSeconds: max } = this.#memory.spec;
    const timeoutSeconds = Math.floor(min + this.#options.random() * (max - min));
    const isStreamingList = this.#state.kind === 'streaming-list';
    return new WatchRequest(this.#context, attempt, query, { isStreamingList, timeoutSeconds }).run();
  }
}
