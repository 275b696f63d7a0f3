/** Common interface of the two kinds of threads. */

export interface WorkerThreadEvents<From> {
  readonly message: (message: From) => void;
  /** Reports that the thread threw or ended, on request or not; may be called more than once. */
  readonly died: (cause: unknown) => void;
}

export interface WorkerThread<To> {
  /** Resolves when the thread has ended, by itself or by `end`. */
  readonly ended: Promise<void>;
  post(message: To): void;
  /** Lets the process exit while the thread runs. */
  unref(): void;
  /** Terminates the thread during any work; resolves when it has ended. */
  end(): Promise<void>;
}
