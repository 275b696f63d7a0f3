/** What is recorded of an informer and of a handler. */
import type { Borrowed, SharedIndexInformer } from '../../src/index.ts';
import type { ChangeRecord, Histories, Scope } from './histories.ts';

/** Index → what it must find an object by. */
export type IndexValues = Readonly<Record<string, (entry: Borrowed<unknown>) => readonly string[]>>;

export interface InformerRecording {
  /** How the histories name it. Default: its own name. */
  readonly name?: string;
  readonly scope?: Scope;
  readonly indices?: IndexValues;
  /** Bodies cost a parse each; without them only versions are compared. Default true. */
  readonly hasBodies?: boolean;
}

export interface RecordedInformer extends Required<InformerRecording> {
  readonly informer: SharedIndexInformer;
}

export interface HandlerRecording {
  /** What the handler then does; what it returns or throws is the handler's. */
  readonly react?: (change: ChangeRecord) => unknown;
  readonly resyncPeriodMs?: number;
}

/** Where things are written down. */
export interface Notebook {
  readonly histories: Histories;
  readonly now: () => number;
  /** Writes down which handlers have synced by now. */
  look(): void;
}
