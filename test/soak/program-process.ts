/** The program as a process behind a proxy, for the conductor. */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Calls } from './calls.ts';
import { environmentOf } from './claim.ts';
import type { Answer, Command } from './program-messages.ts';

const PROGRAM = fileURLToPath(new URL('program.js', import.meta.url));

export class ProgramProcess implements AsyncDisposable {
  /** Address of the health door. */
  readonly address: string;
  /** The reason, if the process has ended by itself. */
  failure: string | undefined;
  readonly #child: ChildProcess;
  readonly #calls: Calls<Command>;
  readonly #exited: Promise<unknown>;
  #isStopping = false;

  private constructor(child: ChildProcess, address: string) {
    this.address = address;
    this.#child = child;
    this.#calls = new Calls((request) => child.send(request));
    child.on('message', (answer: Answer) => this.#calls.answered(answer));
    this.#exited = once(child, 'exit').then(([code, signal]) => {
      const reason = `ended: the program, with ${String(signal ?? code)}`;
      if (!this.#isStopping) this.failure = reason;
      this.#calls.end(reason);
    });
  }

  /** Resolves when its caches are filled. */
  static async start(kubeconfig: string, folder: string): Promise<ProgramProcess> {
    const child = fork(PROGRAM, [kubeconfig], {
      execArgv: ['--expose-gc'],
      env: environmentOf(folder),
      serialization: 'advanced',
    });
    const ready = once(child, 'message').then(([message]) => (message as Answer).answer as string);
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`the program ended with ${String(code)} before its caches were filled`);
    });
    const address = await Promise.race([ready, ended]);
    ended.catch(() => undefined);
    return new ProgramProcess(child, address);
  }

  call<Result>(command: Command): Promise<Result> {
    return this.#calls.call<Result>(command);
  }

  /** Ends the program as a user would; rejects when that fails. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.call({ type: 'stop' });
    await this.#exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopping = true;
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill('SIGKILL');
    await this.#exited;
  }
}
