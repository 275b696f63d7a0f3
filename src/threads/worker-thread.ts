/** What the two kinds of threads have in common for who starts them. */

export interface WorkerThreadEvents<From> {
  readonly message: (message: From) => void;
  /** It threw or ended, told to or not; may be called more than once. */
  readonly died: (cause: unknown) => void;
}

export interface WorkerThread<To> {
  /** Resolves when it is over, by itself or by `end`. */
  readonly ended: Promise<void>;
  post(message: To): void;
  /** Lets the process end although it runs. */
  unref(): void;
  /** Ends it at whatever it does; resolves when it is gone. */
  end(): Promise<void>;
}
