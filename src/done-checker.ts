/** Something that will be done once and stays done: what `waitFor` waits for, and can name. client-go's DoneChecker. */

export interface DoneChecker {
  /** What is waited for, in messages: `SharedIndexInformer pods + handler onPod`. */
  readonly name: string;
  readonly isDone: boolean;
  /** Resolves when it is done; never rejects. */
  readonly done: Promise<void>;
  /** Resolves with the reason when it will never be done, where that can be known; never rejects. */
  readonly failed?: Promise<Error>;
  /** Why it is not done yet: the last error, or what goes on. */
  readonly reason?: string;
  /** How far it has come, where that can be told. */
  readonly progress?: DoneProgress | undefined;
}

export interface DoneProgress {
  readonly items: number;
  readonly bytes: number;
  /** In all, where the server says so. */
  readonly expectedItems?: number;
}
