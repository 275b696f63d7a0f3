/**
 * client-go's Reflector on one thread: keeps a store, or a queue that feeds one, equal to what a ListerWatcher lists
 * and watches. It follows the rules of the reflector thread (src/reflector), with functions instead of sockets.
 */
import type { Clock } from '../../base/clock.ts';
import type { ReflectorStore } from '../../kube/store.ts';
import { KubeloomError, wrapped } from '../../base/errors.ts';
import type { ListerWatcher } from '../../kube/list-watch.ts';
import { initialState } from '../../reflector/rules/state.ts';
import type { Memory } from '../../reflector/rules/state.ts';
import type { ReflectorPhase } from '../../shared/protocol.ts';
import { StoreWriter } from './store-writer.ts';
import type { ResourceVersionUpdater } from './store-writer.ts';
import { ErrorReports } from './error-reports.ts';
import { ListAndWatch } from './list-and-watch.ts';
import { onAbort } from '../../base/on-abort.ts';
import { specOf, timesOf } from './reflector-options.ts';
import type { ReflectorOptions } from './reflector-options.ts';
import { describeType } from './expected-type.ts';
import type { ExpectedType } from './expected-type.ts';

/** The longest delay: setTimeout takes 31 bits and fires at once beyond them. */
const DELAY_MS_MAX = 2 ** 31 - 1;

export class Reflector<T> {
  readonly name: string;
  readonly typeDescription: string;
  readonly #listerWatcher: ListerWatcher<T>;
  readonly #expectedType: ExpectedType | undefined;
  readonly #options: ReflectorOptions;
  readonly #clock: Clock;
  readonly #reports: ErrorReports;
  readonly #writer: StoreWriter<T>;
  #memory: Memory;
  #isRunning = false;
  #resourceVersion = '';
  #phase: ReflectorPhase = 'stopped';

  /**
   * @param expectedType events with objects of another type are reported and skipped; undefined: any type
   * @param store an error of `replace` is a failure of the list; errors of its other methods are reported
   */
  constructor(
    listerWatcher: ListerWatcher<T>,
    expectedType: ExpectedType | undefined,
    store: ReflectorStore<T> & Partial<ResourceVersionUpdater>,
    options: ReflectorOptions = {},
  ) {
    this.#listerWatcher = listerWatcher;
    this.#expectedType = expectedType;
    this.#options = options;
    this.#clock = timesOf(options).clock;
    this.typeDescription = options.typeDescription ?? describeType(expectedType);
    this.name = options.name ?? `Reflector ${this.typeDescription}`;
    this.#reports = new ErrorReports(this.name, options.watchErrorHandler, this.#clock);
    this.#writer = new StoreWriter(store, this.#reports);
    const spec = specOf(options, listerWatcher.isWatchListUnsupported === true);
    this.#memory = memoryOf(initialState(spec));
  }

  /** Returns the version of the last event, or of the last list, that was written to the store; '' before. */
  lastSyncResourceVersion(): string {
    return this.#resourceVersion;
  }

  /** Current activity. */
  get phase(): ReflectorPhase {
    return this.#phase;
  }

  /**
   * Lists and watches until the signal is aborted, and retries every failure. Returns at once after the abort,
   * and writes nothing more to the store, even when the ListerWatcher's functions ignore the signal.
   *
   * @throws ERR_KUBELOOM_ALREADY_RUNNING
   */
  async run(signal: AbortSignal): Promise<void> {
    await this.#run(signal, false);
  }

  /**
   * Runs one iteration of `run`: returns when it was stopped, or when a watch that had been open ended with an
   * error, which is reported.
   *
   * @throws the error of the list or watch that prevented watching; ERR_KUBELOOM_ALREADY_RUNNING
   */
  async listAndWatch(signal: AbortSignal): Promise<void> {
    const error = await this.#run(signal, true);
    if (error) throw error;
  }

  async #run(signal: AbortSignal, isSingle: boolean): Promise<KubeloomError | undefined> {
    if (this.#isRunning) {
      throw new KubeloomError(
        'ERR_KUBELOOM_ALREADY_RUNNING',
        `${this.name} is running: call run() or listAndWatch() again after it has returned`,
      );
    }
    if (signal.aborted) return undefined;
    this.#isRunning = true;
    const resync = new PeriodicResync(this.#clock, this.#options.resyncPeriodMs ?? 0, () =>
      this.#resync(session),
    );
    const session = this.#session(isSingle, resync);
    const unlisten = onAbort(signal, () => session.stop());
    try {
      const { memory, error } = await session.run();
      this.#memory = memory;
      return error;
    } finally {
      unlisten();
      resync.stop();
      this.#isRunning = false;
      this.#phase = 'stopped';
    }
  }

  #session(isSingle: boolean, resync: PeriodicResync): ListAndWatch<T> {
    const { clock, random } = timesOf(this.#options);
    return new ListAndWatch(
      {
        name: this.name,
        listerWatcher: this.#listerWatcher,
        expectedType: this.#expectedType,
        writer: this.#writer,
        reports: this.#reports,
        clock,
        random,
        jitter: this.#options.backoff?.jitter ?? 1,
        isSingle,
        moved: (resourceVersion, by) => {
          this.#resourceVersion = resourceVersion;
          if (by === 'list') resync.start();
          else this.#writer.moved(resourceVersion);
        },
        phase: (phase) => (this.#phase = phase),
      },
      this.#memory,
    );
  }

  #resync(session: ListAndWatch<T>): void {
    if (session.isOver) return;
    try {
      if (this.#options.shouldResync?.() ?? true) this.#writer.resync();
    } catch (cause) {
      session.resyncFailed(wrapped('ERR_KUBELOOM_RESYNC', `${this.name}: the resync failed`, cause));
    }
  }
}

function memoryOf(state: ReturnType<typeof initialState>): Memory {
  if (state.kind === 'stopped') throw new KubeloomError('ERR_KUBELOOM_ASSERTION', 'begins stopped');
  return state.memory;
}

/**
 * A timer that requests a resync once every period. It starts with the first list and continues through watches,
 * relists and delays. (client-go's timer restarts with every relist, so frequent relists prevent resyncs.)
 */
class PeriodicResync {
  readonly #clock: Clock;
  readonly #periodMs: number;
  readonly #onDue: () => void;
  #dueAt = 0;
  #phase: 'waiting' | 'running' | 'stopped' = 'waiting';
  #cancel: () => void = () => undefined;

  /** @param periodMs 0: never */
  constructor(clock: Clock, periodMs: number, onDue: () => void) {
    this.#clock = clock;
    this.#periodMs = periodMs;
    this.#onDue = onDue;
  }

  /** Starts the timer after the first list; later calls do nothing. */
  start(): void {
    if (this.#phase !== 'waiting' || this.#periodMs <= 0) return;
    this.#phase = 'running';
    this.#dueAt = this.#clock.now() + this.#periodMs;
    this.#arm();
  }

  stop(): void {
    this.#phase = 'stopped';
    this.#cancel();
  }

  #arm(): void {
    const delayMs = Math.min(Math.max(0, this.#dueAt - this.#clock.now()), DELAY_MS_MAX);
    this.#cancel = this.#clock.schedule(delayMs, () => this.#tick());
  }

  #tick(): void {
    const now = this.#clock.now();
    // The real clock has fractions, timers have whole milliseconds.
    if (now + 1 >= this.#dueAt) {
      this.#dueAt = now + this.#periodMs;
      this.#onDue();
    }
    if (this.#phase === 'running') this.#arm();
  }
}
