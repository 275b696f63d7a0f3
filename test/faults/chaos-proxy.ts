/** Handle of a chaos proxy, a process between informers and a server that causes faults on command. */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Command, ProxyEvent, TlsFiles } from './chaos-proxy-process.ts';

export class ChaosProxy implements AsyncDisposable {
  /** Faults that the proxy has caused. */
  readonly landed: string[] = [];
  readonly #child: ChildProcess;
  readonly #scheme: string;
  readonly #waiting = new Map<number, () => void>();
  #port = 0;
  #nextId = 1;

  private constructor(child: ChildProcess, scheme: string) {
    this.#child = child;
    this.#scheme = scheme;
    child.on('message', ({ id, port }: ProxyEvent) => {
      this.#port = port;
      this.#waiting.get(id)?.();
      this.#waiting.delete(id);
    });
  }

  /**
   * Starts a proxy.
   *
   * @param target port of the server
   * @param tls certificate for clients; without it, plain TCP
   */
  static async start(target: number, tls?: TlsFiles): Promise<ChaosProxy> {
    const child = fork(new URL('./chaos-proxy-process.js', import.meta.url), [], { execArgv: [] });
    const proxy = new ChaosProxy(child, tls ? 'https' : 'http');
    await proxy.#tell({ type: 'start', target, tls });
    return proxy;
  }

  get url(): string {
    return `${this.#scheme}://127.0.0.1:${this.#port}`;
  }

  reset(): Promise<void> {
    this.landed.push('reset');
    return this.#tell({ type: 'reset' });
  }

  refuse(): Promise<void> {
    this.landed.push('refuse');
    return this.#tell({ type: 'refuse' });
  }

  accept(tls?: TlsFiles): Promise<void> {
    return this.#tell({ type: 'accept', tls });
  }

  /** Stops the process with its sockets: it neither answers nor closes. */
  freeze(): void {
    this.landed.push('freeze');
    this.#child.kill('SIGSTOP');
  }

  thaw(): void {
    this.#child.kill('SIGCONT');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }

  #tell(command: Command): Promise<void> {
    const id = this.#nextId++;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#child.send({ ...command, id });
    });
  }
}
