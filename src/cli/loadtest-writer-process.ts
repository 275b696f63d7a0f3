/** The parent's side of the writer's process. */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { execArgvOption } from '../apiserver/exec-argv.ts';
import { KubeloomError } from '../base/errors.ts';
import type { FromWriter, LoadOutcome, ToWriter, Write, WriterTask } from './loadtest-plan.ts';

const ENTRY = new URL('./loadtest-writer.js', import.meta.url);

export class WriterProcess implements AsyncDisposable {
  /** The number of confirmed writes of the current command. */
  writes = 0;
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #settle: { resolve(message: FromWriter): void; reject(error: Error): void } | undefined;

  constructor() {
    const options = { stdio: ['ignore', 2, 2, 'ipc'] as ['ignore', 2, 2, 'ipc'], ...execArgvOption() };
    this.#child = fork(fileURLToPath(ENTRY), options);
    this.#child.on('message', (message: FromWriter) => this.#receive(message));
    this.#ended = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => {
        this.#settle?.reject(
          new KubeloomError(
            'ERR_KUBELOOM_LOADTEST',
            `the writer ended with ${String(code ?? signal)} before it was done`,
          ),
        );
        resolve();
      });
    });
  }

  /** Creates the objects; resolves when all exist. */
  async populate(task: WriterTask): Promise<readonly Write[]> {
    const answer = await this.#ask({ type: 'populate', task });
    return answer.type === 'populated' ? answer.writes : [];
  }

  /** Writes at the rate; resolves when every write has its answer. */
  async load(): Promise<LoadOutcome> {
    const answer = await this.#ask({ type: 'load' });
    return answer.type === 'loaded'
      ? answer.outcome
      : { writes: [], refused: 0, unanswered: 0, rateAchieved: 0 };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Pending waits reject.
    this.#settle = undefined;
    this.#child.kill();
    await this.#ended;
  }

  #ask(message: ToWriter): Promise<FromWriter> {
    this.writes = 0;
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      this.#child.send(message);
    });
  }

  #receive(message: FromWriter): void {
    if (message.type === 'progress') this.writes = message.writes;
    else if (message.type === 'failed')
      this.#settle?.reject(new KubeloomError(message.code, message.message));
    else this.#settle?.resolve(message);
  }
}
