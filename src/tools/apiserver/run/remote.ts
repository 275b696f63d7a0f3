/**
 * Calls across a thread or process boundary: `{ id, method, args }` to the server, `{ id, result }` or `{ id,
 * error }` back. The first call is `start`, with the options.
 */

import { KubeloomError, fromErrorMessage, messageOf, toErrorMessage } from '../../../base/errors.ts';
import type { ErrorMessage } from '../../../base/errors.ts';
import { ApiServer } from './api-server.ts';
import type { ServerControl } from './api-server.ts';
import type { ServerEndpoint } from '../wire/kubeconfig.ts';
import type { ApiServerOptions } from '../store/server-options.ts';

type ControlMethod = keyof ServerControl;

interface CallMessage {
  readonly id: number;
  readonly method: ControlMethod | 'start';
  readonly args: readonly unknown[];
}

interface ReplyMessage {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: ErrorMessage;
}

/** The connection to the other thread or process: a MessagePort, or the channel of a child process. */
export interface Channel {
  post(message: object): void;
  onMessage(listener: (message: unknown) => void): void;
}

/** A function that calls a method of a `ServerControl` in this thread or in another. */
export type RemoteCall = <M extends ControlMethod>(
  method: M,
  ...args: Parameters<ServerControl[M]>
) => Promise<Awaited<ReturnType<ServerControl[M]>>>;

/** Calls the method on the server in this thread. */
export async function invoke(
  server: ApiServer,
  method: ControlMethod,
  args: readonly unknown[],
): Promise<unknown> {
  const target = server.control[method] as (...values: readonly unknown[]) => unknown;
  return await target(...args);
}

/** Answers calls in the server's thread or process. */
export function serveControl(channel: Channel): void {
  let server: ApiServer | undefined;
  const perform = async ({ method, args }: CallMessage): Promise<unknown> => {
    if (method !== 'start') return server && (await invoke(server, method, args));
    server = new ApiServer(args[0] as ApiServerOptions);
    return await server.listen();
  };
  channel.onMessage((message) => {
    const call = message as CallMessage;
    const { id } = call;
    perform(call).then(
      (result) => channel.post({ id, result } satisfies ReplyMessage),
      (error: unknown) => channel.post({ id, error: toErrorMessage(error) } satisfies ReplyMessage),
    );
  });
}

/** The caller's end of the channel. */
export class RemoteControl {
  readonly #channel: Channel;
  readonly #pending = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  #nextId = 1;
  #dead: Error | undefined;

  constructor(channel: Channel) {
    this.#channel = channel;
    channel.onMessage((message) => this.#receive(message as ReplyMessage));
  }

  /** Starts the server; resolves when it listens. */
  start(options: ApiServerOptions): Promise<ServerEndpoint> {
    return this.#send('start', [options]) as Promise<ServerEndpoint>;
  }

  // The server answers each method with the method's result type.
  readonly call: RemoteCall = (method, ...args) => this.#send(method, args) as Promise<never>;

  /** Rejects every pending call with the reason, because the server ended. */
  disconnect(reason: string): void {
    const message = `the embedded apiserver has ended: ${reason}`;
    this.#dead = new KubeloomError('ERR_KUBELOOM_APISERVER_GONE', message);
    for (const pending of this.#pending.values()) pending.reject(this.#dead);
    this.#pending.clear();
  }

  #send(method: CallMessage['method'], args: readonly unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#dead !== undefined) {
        reject(this.#dead);
        return;
      }
      const id = this.#nextId++;
      this.#post({ id, method, args });
      this.#pending.set(id, { resolve, reject });
    });
  }

  #post(message: CallMessage): void {
    try {
      this.#channel.post(message);
    } catch (cause) {
      const what = `the arguments of ${message.method} must be data, without functions, to be sent to the server`;
      throw new KubeloomError('ERR_KUBELOOM_OPTION', `${what}: ${messageOf(cause)}`, { cause });
    }
  }

  #receive({ id, result, error }: ReplyMessage): void {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (error === undefined) pending?.resolve(result);
    else pending?.reject(fromErrorMessage(error));
  }
}
