/** The callbacks of a ListWatch by their verbs. A callback that throws or rejects is reported, and the others are called. */
import { attempt } from '../base/callbacks.ts';
import { messageOf, withCode } from '../base/errors.ts';
import { ADD, CHANGE, CONNECT, DELETE, ERROR, UPDATE } from '@kubernetes/client-node';
import { callback as checkCallback } from '../base/option-checks.ts';
import { KubeloomError } from '../index.ts';
import { toListWatchError } from './list-watch-error.ts';

type ObjectVerb = ADD | UPDATE | DELETE;
type Verb = ObjectVerb | ERROR | CONNECT;
type Callback = (argument: never) => unknown;

const OBJECT_VERBS: readonly ObjectVerb[] = [ADD, UPDATE, DELETE];

export class Callbacks<T> {
  readonly #byVerb: Readonly<Record<Verb, Callback[]>> = {
    [ADD]: [],
    [UPDATE]: [],
    [DELETE]: [],
    [ERROR]: [],
    [CONNECT]: [],
  };

  on(verb: Verb | CHANGE, callback: Callback): void {
    const lists = this.#listsOf(verb);
    checkCallback('the callback', callback);
    for (const list of lists) list.push(callback);
  }

  /** Removes a single registration of the callback, if there is any. */
  off(verb: Verb | CHANGE, callback: Callback): void {
    for (const list of this.#listsOf(verb)) {
      const index = list.indexOf(callback);
      if (index !== -1) list.splice(index, 1);
    }
  }

  /** Delivers an object, which is read only if there is a callback. @returns false when it cannot be read, which is reported */
  deliver(verb: ObjectVerb, delivered: { readonly deliver: () => T }): boolean {
    if (this.#byVerb[verb].length === 0) return true;
    let object: T;
    try {
      object = delivered.deliver();
    } catch (unreadable) {
      this.error(withCode(unreadable));
      return false;
    }
    this.#call(verb, object);
    return true;
  }

  connect(): void {
    this.#call(CONNECT, undefined);
  }

  /** Reports an error to the callbacks for errors, or as a process warning if there are none. */
  error(error: KubeloomError): void {
    const callbacks = this.#byVerb[ERROR].slice();
    if (callbacks.length === 0) warn(error);
    const reported = toListWatchError(error);
    for (const callback of callbacks) attempt(() => callback(reported as never), warn);
  }

  #call(verb: ObjectVerb | CONNECT, argument: T | undefined): void {
    const failed = (cause: unknown): void => {
      const what = `a callback for '${verb}' threw: ${messageOf(cause)}`;
      this.error(new KubeloomError('ERR_KUBELOOM_HANDLER', what, { cause }));
    };
    for (const callback of this.#byVerb[verb].slice()) attempt(() => callback(argument as never), failed);
  }

  #listsOf(verb: Verb | CHANGE): readonly Callback[][] {
    if (verb === CHANGE) return OBJECT_VERBS.map((each) => this.#byVerb[each]);
    if (!Object.hasOwn(this.#byVerb, verb)) {
      const known = [...Object.keys(this.#byVerb), CHANGE].join(', ');
      throw new KubeloomError('ERR_KUBELOOM_OPTION', `unknown verb: ${verb}; known are ${known}`);
    }
    return [this.#byVerb[verb]];
  }
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : messageOf(error));
}
