/** Messages between the conductor and the program, and between the program and its threads. */
import type { HandlerRecord, KindName, Report, Rest } from './window-record.ts';

/** `prompt` ends `slow`. */
export type ProgramFault = 'reflector' | 'reader' | 'main' | 'slow' | 'prompt';

export type Command =
  /** Adds the handlers of a window, here and in the threads. */
  | { readonly type: 'begin' }
  | { readonly type: 'fault'; readonly fault: ProgramFault }
  /** Asks how much the handlers have still to receive up to these versions. */
  | { readonly type: 'left'; readonly versions: Readonly<Record<KindName, number>> }
  /** Ends the window. */
  | { readonly type: 'end' }
  | { readonly type: 'stop' };

export interface ProgramWindow {
  readonly handlers: readonly HandlerRecord[];
  readonly reports: readonly Report[];
  readonly rest: Rest;
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
  | { readonly type: 'left'; readonly versions: Readonly<Record<KindName, number>> }
  | { readonly type: 'end' };

export interface ReaderWindow {
  readonly handlers: readonly Omit<HandlerRecord, 'isRelisted'>[];
  readonly reports: readonly Report[];
}
