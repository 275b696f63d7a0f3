/**
 * Calls across a thread or process boundary: `{ id, method, args }` to the server, `{ id, result }` or `{ id,
 * error }` back.
 */

import { KubeloomError, fromErrorMessage, toErrorMessage } from '../base/errors.ts';
import type { ErrorMessage } from '../base/errors.ts';
import type { ServerControl } from './control.ts';
import type { Endpoint } from './kubeconfig.ts';
import type { ApiServerOptions } from './options.ts';

export type ControlMethod = keyof ServerControl;

export interface CallMessage {
  readonly id: number;
  readonly method: ControlMethod;
  readonly args: readonly unknown[];
}

export type ReplyMessage =
  | { readonly type: 'ready'; readonly endpoint: Endpoint }
  | { readonly type: 'failed'; readonly error: ErrorMessage }
  | { readonly type: 'result'; readonly id: number; readonly result: unknown }
  | { readonly type: 'error'; readonly id: number; readonly error: ErrorMessage };

/** The connection to the other thread or process: a MessagePort, or the channel of a child process. */
export interface Channel {
  post(message: object): void;
  onMessage(listener: (message: unknown) => void): void;
}

/** A function that calls a method of a `ServerControl` in this thread or in another. */
export type Call = <M extends ControlMethod>(
  method: M,
  ...args: Parameters<ServerControl[M]>
) => Promise<Awaited<ReturnType<ServerControl[M]>>>;

/** Calls the method on the server in this thread. */
export async function invoke(
  control: ServerControl,
  method: ControlMethod,
  args: readonly unknown[],
): Promise<unknown> {
  const target = control[method] as (...values: unknown[]) => unknown;
  return await target.apply(control, [...args]);
}

/** Answers calls in the server's thread or process; the first message brings the options. */
export function serveControl(
  channel: Channel,
  start: (options: ApiServerOptions) => Promise<{ endpoint: Endpoint; control: ServerControl }>,
): void {
  let control: ServerControl | undefined;
  channel.onMessage((message) => {
    if (control === undefined) {
      start(message as ApiServerOptions).then(
        (started) => {
          control = started.control;
          channel.post({ type: 'ready', endpoint: started.endpoint });
        },
        (error: unknown) => channel.post({ type: 'failed', error: toErrorMessage(error) }),
      );
      return;
    }
    const { id, method, args } = message as CallMessage;
    invoke(control, method, args).then(
      (result) => channel.post({ type: 'result', id, result }),
      (error: unknown) => channel.post({ type: 'error', id, error: toErrorMessage(error) }),
    );
  });
}

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** The caller's end of the channel: resolves with the endpoint when the server listens. */
export class RemoteControl {
  readonly ready: Promise<Endpoint>;
  readonly #channel: Channel;
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;
  #dead: Error | undefined;
  #failed: (error: Error) => void = () => {};

  constructor(channel: Channel) {
    this.#channel = channel;
    this.ready = new Promise((resolve, reject) => {
      this.#failed = reject;
      channel.onMessage((message) => this.#receive(message as ReplyMessage, resolve));
    });
  }

  readonly call: Call = (method, ...args) => {
    return new Promise((resolve, reject) => {
      if (this.#dead !== undefined) {
        reject(this.#dead);
        return;
      }
      const id = this.#nextId++;
      // The server answers each method with its own type.
      this.#pending.set(id, { resolve: (value) => resolve(value as never), reject });
      this.#channel.post({ id, method, args } satisfies CallMessage);
    });
  };

  /** Rejects every pending call with the reason, because the server has ended. */
  disconnect(reason: string): void {
    this.#dead = new KubeloomError(
      'ERR_KUBELOOM_APISERVER_GONE',
      `the embedded apiserver has ended: ${reason}`,
    );
    this.#failed(this.#dead);
    for (const pending of this.#pending.values()) pending.reject(this.#dead);
    this.#pending.clear();
  }

  #receive(message: ReplyMessage, ready: (endpoint: Endpoint) => void): void {
    switch (message.type) {
      case 'ready':
        return ready(message.endpoint);
      case 'failed':
        return this.#failed(fromErrorMessage(message.error));
      case 'result':
        this.#pending.get(message.id)?.resolve(message.result);
        break;
      case 'error':
        this.#pending.get(message.id)?.reject(fromErrorMessage(message.error));
        break;
    }
    this.#pending.delete(message.id);
  }
}
