/** Handle of one registration. An informer accepts only its own handles for removal. */
import type { KubeloomError } from '../base/errors.ts';
import { SettableDoneChecker } from './settable-done-checker.ts';
import type { HandlerBacklog, HandlerRegistration } from '../replica/deliver/handler.ts';
import type { ProcessorListener } from '../replica/deliver/processor-listener.ts';

export class Registration implements HandlerRegistration {
  readonly name: string;
  readonly hasSyncedChecker: SettableDoneChecker;
  readonly #listener: ProcessorListener;
  failure: KubeloomError | undefined;

  constructor(name: string, hasSyncedChecker: SettableDoneChecker, listener: ProcessorListener) {
    this.name = name;
    this.hasSyncedChecker = hasSyncedChecker;
    this.#listener = listener;
  }

  hasSynced(): boolean {
    return this.#listener.hasSynced;
  }

  get backlog(): HandlerBacklog {
    return this.#listener.backlog;
  }
}
