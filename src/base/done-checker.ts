/**
 * A check that becomes done once and stays done. `waitFor` waits for such checks and names them. client-go's
 * DoneChecker.
 */

export interface DoneChecker {
  /** The name in messages: `SharedIndexInformer pods + handler onPod`. */
  readonly name: string;
  /** Whether it is done; once true, it stays true. */
  readonly isDone: boolean;
  /** Resolves when it is done; never rejects. */
  readonly done: Promise<void>;
  /** Resolves with the reason when it can never be done, where that can be detected; never rejects. */
  readonly failed?: Promise<Error>;
  /** The reason why it is not done yet: the last error, or the current phase. */
  readonly reason?: string;
  /** The progress, where it is available. */
  readonly progress?: DoneProgress | undefined;
}

/** Progress of a list. */
export interface DoneProgress {
  /** Number of objects received so far. */
  readonly items: number;
  /** Number of bytes received so far. */
  readonly bytes: number;
  /** The total, where the server reports it. */
  readonly expectedItems?: number;
}
