/**
 * client-go's Reflector on one thread: keeps a store, or a queue that feeds one, equal to what a ListerWatcher
 * lists and watches. The same rules as the pipeline's reflector thread (src/reflector), with functions in
 * place of sockets.
 */
import type { Clock } from '../clock.ts';
import type { ReflectorStore } from '../cache/store.ts';
import { KubeloomError } from '../errors.ts';
import type { ListerWatcher } from '../kube/list-watch.ts';
import { initialState } from '../reflector/state.ts';
import type { Memory } from '../reflector/state.ts';
import type { ReflectorPhase } from '../threads/protocol.ts';
import { Destination } from './destination.ts';
import type { ResourceVersionUpdater } from './destination.ts';
import { ErrorReports, wrapped } from './error-reports.ts';
import { ListAndWatch } from './list-and-watch.ts';
import { onAbort } from '../on-abort.ts';
import { specOf, timesOf } from './reflector-options.ts';
import type { ReflectorOptions } from './reflector-options.ts';
import { ResyncTimer } from './resync-timer.ts';
import { describeType } from './shape.ts';
import type { ExpectedType } from './shape.ts';

export class Reflector<T> {
  readonly name: string;
  readonly typeDescription: string;
  readonly #listerWatcher: ListerWatcher<T>;
  readonly #expectedType: ExpectedType | undefined;
  readonly #options: ReflectorOptions;
  readonly #clock: Clock;
  readonly #reports: ErrorReports;
  readonly #destination: Destination<T>;
  #memory: Memory;
  #isRunning = false;
  #resourceVersion = '';
  #phase: ReflectorPhase = 'stopped';

  /**
   * @param expectedType events with objects of another type are reported and skipped; undefined: all are good
   * @param store what its `replace` throws is a failure of the list; what its other methods throw is reported
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
    this.#destination = new Destination(store, this.#reports);
    const spec = specOf(options, listerWatcher.isWatchListUnsupported === true);
    this.#memory = memoryOf(initialState(spec));
  }

  /** The version of the last event, or of the last list, that was handed to the store; '' before. */
  lastSyncResourceVersion(): string {
    return this.#resourceVersion;
  }

  /** What it is doing. */
  get phase(): ReflectorPhase {
    return this.#phase;
  }

  /**
   * Lists and watches until the signal is aborted, whatever fails. Returns then at once, and nothing more is
   * written to the store, also when the ListerWatcher's functions do not heed the signal.
   *
   * @throws ERR_KUBELOOM_ALREADY_RUNNING
   */
  async run(signal: AbortSignal): Promise<void> {
    await this.#run(signal, false);
  }

  /**
   * One iteration of `run`: returns when it was stopped, or when a watch that had been open ended with an
   * error; that is reported all the same.
   *
   * @throws what kept it from watching: the list's or the watch's error; ERR_KUBELOOM_ALREADY_RUNNING
   */
  async listAndWatch(signal: AbortSignal): Promise<void> {
    const error = await this.#run(signal, true);
    if (error) throw error;
  }

  async #run(signal: AbortSignal, isSingle: boolean): Promise<KubeloomError | undefined> {
    if (this.#isRunning) {
      throw new KubeloomError(
        'ERR_KUBELOOM_ALREADY_RUNNING',
        `${this.name} is running: it runs once at a time`,
      );
    }
    if (signal.aborted) return undefined;
    this.#isRunning = true;
    const resync = new ResyncTimer(this.#clock, this.#options.resyncPeriodMs ?? 0, () =>
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

  #session(isSingle: boolean, resync: ResyncTimer): ListAndWatch<T> {
    const { clock, random } = timesOf(this.#options);
    return new ListAndWatch(
      {
        name: this.name,
        listerWatcher: this.#listerWatcher,
        expectedType: this.#expectedType,
        destination: this.#destination,
        reports: this.#reports,
        clock,
        random,
        jitter: this.#options.backoff?.jitter ?? 1,
        isSingle,
        moved: (resourceVersion, by) => {
          this.#resourceVersion = resourceVersion;
          if (by === 'list') resync.start();
          else this.#destination.moved(resourceVersion);
        },
        phase: (phase) => (this.#phase = phase),
      },
      this.#memory,
    );
  }

  #resync(session: ListAndWatch<T>): void {
    if (session.isOver) return;
    try {
      if (this.#options.shouldResync?.() ?? true) this.#destination.resync();
    } catch (cause) {
      session.resyncFailed(wrapped('ERR_KUBELOOM_RESYNC', `${this.name}: the resync failed`, cause));
    }
  }
}

function memoryOf(state: ReturnType<typeof initialState>): Memory {
  if (state.kind === 'stopped') throw new KubeloomError('ERR_KUBELOOM_ASSERTION', 'begins stopped');
  return state.memory;
}
