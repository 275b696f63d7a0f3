/** Messages between the conductor and the program, and between the program and its threads. */
import type { GaugeName, HandlerRecord, KindName, Report } from './window-record.ts';

export type ProgramFault = 'reflector' | 'reader' | 'main' | 'slow';

export type Command =
  /** Adds the handlers of a window, here and in the threads. */
  | { readonly type: 'begin' }
  | { readonly type: 'fault'; readonly fault: ProgramFault; readonly lastsMs: number }
  /** Asks whether every handler has received everything up to these versions. */
  | { readonly type: 'reached'; readonly versions: Readonly<Record<KindName, number>> }
  /** Ends the window. */
  | { readonly type: 'end' }
  | { readonly type: 'stop' };

export interface ProgramWindow {
  readonly handlers: readonly HandlerRecord[];
  readonly reports: readonly Report[];
  readonly gauges: Readonly<Record<Exclude<GaugeName, 'leases'>, number>>;
}

/** @typeParam Asked the command */
export interface Request<Asked> {
  readonly id: number;
  readonly asked: Asked;
}

export interface Answer {
  readonly id: number;
  readonly answer?: unknown;
  /** The message of an error. */
  readonly error?: string;
}

export type ReaderCommand =
  | { readonly type: 'begin' }
  | { readonly type: 'reached'; readonly versions: Readonly<Record<KindName, number>> }
  | { readonly type: 'end' };

export interface ReaderWindow {
  readonly handlers: readonly Omit<HandlerRecord, 'isRelisted'>[];
  readonly reports: readonly Report[];
}
