/** A client program in a process of its own: reads its lines, and sends requests to it. */
import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { Line } from './clients/lines.ts';
import { ClientView } from './judge.ts';

export class ClientProcess {
  readonly lines: Line[] = [];
  /** The collection as the handler's notifications describe it so far. */
  readonly view: ClientView = new ClientView();
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #ended: Promise<void>;
  readonly #waiting = new Set<() => void>();
  #hasEnded = false;

  constructor([command = '', ...commandArguments]: readonly string[]) {
    this.#child = spawn(command, commandArguments, { stdio: ['pipe', 'pipe', 'ignore'] });
    this.#child.stdin.on('error', () => undefined); // The process has ended, and its lines say so.
    const lines = createInterface({ input: this.#child.stdout });
    lines.on('line', (text) => this.#take(JSON.parse(text) as Line));
    this.#ended = new Promise((resolve) => {
      const end = (): void => {
        this.#hasEnded = true;
        for (const look of this.#waiting) look();
        resolve();
      };
      this.#child.once('error', end);
      this.#child.once('close', end);
    });
  }

  /** True when the client reported that it stopped, or its process has ended. */
  get isStopped(): boolean {
    return this.#hasEnded || this.lines.some(({ kind }) => kind === 'stopped');
  }

  /** Resolves true when the client prints a line of this kind; false when it ended or the time is up. */
  saidBy(kind: Line['kind'], timeoutMs: number): Promise<boolean> {
    return this.#until(() => this.lines.some((line) => line.kind === kind), timeoutMs);
  }

  /** The content of its store; undefined when the client cannot answer any more. */
  async state(timeoutMs: number): Promise<Map<string, string> | undefined> {
    const before = this.lines.length;
    const answer = (): Line | undefined => this.lines.slice(before).find(({ kind }) => kind === 'state');
    this.#child.stdin.write('state\n');
    await this.#until(() => answer() !== undefined, timeoutMs);
    const line = answer();
    return line?.kind === 'state' ? new Map(Object.entries(line.objects ?? {})) : undefined;
  }

  async end(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  #take(line: Line): void {
    this.lines.push(line);
    this.view.apply(line);
    for (const look of this.#waiting) look();
  }

  #until(holds: () => boolean, timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const finish = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(look);
        resolve(holds());
      };
      const look = (): void => {
        if (holds() || this.#hasEnded) finish();
      };
      const timer = setTimeout(finish, timeoutMs);
      this.#waiting.add(look);
      look();
    });
  }
}
