/** The handle of one registration, which is also how an informer knows that it is its own. */
import type { KubeloomError } from '../errors.ts';
import { Done } from './done.ts';
import type { HandlerBacklog, HandlerRegistration } from '../processor/handler.ts';
import type { ProcessorListener } from '../processor/processor-listener.ts';

export class Registration implements HandlerRegistration {
  readonly name: string;
  readonly hasSyncedChecker: Done;
  readonly #listener: ProcessorListener;
  failure: KubeloomError | undefined;

  constructor(name: string, hasSyncedChecker: Done, listener: ProcessorListener) {
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
