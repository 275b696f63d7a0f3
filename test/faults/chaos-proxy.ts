/** Handle of a chaos proxy, a process between informers and a server that causes faults on command. */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Command, Mode, ProxyEvent, TlsFiles } from './chaos-proxy-process.ts';

export class ChaosProxy implements AsyncDisposable {
  readonly landed: Extract<ProxyEvent, { type: 'landed' }>[] = [];
  /** Times of accepted connections, in milliseconds since the epoch. */
  readonly accepted: number[] = [];
  readonly #child: ChildProcess;
  readonly #scheme: string;
  readonly #waiting = new Map<number, () => void>();
  #port = 0;
  #nextId = 1;

  private constructor(child: ChildProcess, scheme: string) {
    this.#child = child;
    this.#scheme = scheme;
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
    const listening = new Promise<void>((resolve, reject) => {
      child.on('message', (event: ProxyEvent) => proxy.#hear(event, resolve));
      child.once('exit', (code) => reject(new Error(`the chaos proxy exited with ${code}`)));
    });
    child.send({ type: 'start', target, tls, id: 0 });
    await listening;
    return proxy;
  }

  get url(): string {
    return `${this.#scheme}://127.0.0.1:${this.#port}`;
  }

  mode(mode: Mode): Promise<void> {
    return this.#tell({ type: 'mode', mode });
  }

  reset(): Promise<void> {
    return this.#tell({ type: 'reset' });
  }

  refuse(): Promise<void> {
    return this.#tell({ type: 'refuse' });
  }

  accept(tls?: TlsFiles): Promise<void> {
    return this.#tell({ type: 'accept', tls });
  }

  /** Stops the process with its sockets: it neither answers nor closes. */
  freeze(): void {
    this.#child.kill('SIGSTOP');
    const atMs = performance.timeOrigin + performance.now();
    this.landed.push({ type: 'landed', what: 'freeze', detail: `SIGSTOP to ${this.#child.pid}`, atMs });
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

  #hear(event: ProxyEvent, listening: () => void): void {
    switch (event.type) {
      case 'listening':
        this.#port = event.port;
        listening();
        break;
      case 'done':
        this.#waiting.get(event.id)?.();
        this.#waiting.delete(event.id);
        break;
      case 'accepted':
        this.accepted.push(event.atMs);
        break;
      case 'landed':
        this.landed.push(event);
        break;
      default:
        throw new Error(`the chaos proxy: ${event.message}`);
    }
  }
}
