/** The parts of an informer and of a handler that are recorded. */
import type { Borrowed, SharedIndexInformer } from '../../../src/index.ts';
import type { ChangeRecord, Histories, Scope } from './histories.ts';

/** Index → the values by which it must find an object. */
export type IndexValues = Readonly<Record<string, (entry: Borrowed<unknown>) => readonly string[]>>;

export interface InformerRecording {
  /** The informer's name in the histories. Default: its own name. */
  readonly name?: string;
  readonly scope?: Scope;
  readonly indices?: IndexValues;
  /** Records bodies, which costs a parse each; without them only versions are compared. Default true. */
  readonly hasBodies?: boolean;
}

export interface RecordedInformer extends Required<InformerRecording> {
  readonly informer: SharedIndexInformer;
}

export interface HandlerRecording {
  /** The handler's own work; its return value or error is the handler's. */
  readonly react?: (change: ChangeRecord) => unknown;
  readonly resyncPeriodMs?: number;
}

/** The recorder as its handlers see it. */
export interface Notebook {
  readonly histories: Histories;
  readonly now: () => number;
  /** Records which handlers have synced by now. */
  look(): void;
}
