/**
 * Calls from the load test's main process to the other processes, and their reports. Each process offers a table of
 * functions; a call and the answer are messages with the same number.
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { execArgvOption } from '../../apiserver/run/exec-argv.ts';
import { KubeloomError, fromErrorMessage, toErrorMessage } from '../../../base/errors.ts';
import type { ErrorMessage } from '../../../base/errors.ts';

/** Functions that a process offers. Arguments and results are structured-cloneable. */
export type CallTable<Table> = { readonly [Name in keyof Table]: (argument: never) => Promise<unknown> };

type Answer =
  | { readonly type: 'result'; readonly call: number; readonly result: unknown }
  | { readonly type: 'failed'; readonly call: number; readonly error: ErrorMessage }
  | { readonly type: 'report'; readonly report: unknown };

interface Call {
  readonly call: number;
  readonly name: string;
  readonly argument: unknown;
}

interface Pending {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** The main process's side. */
export class OtherProcess<Table extends CallTable<Table>> implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  readonly #pending = new Map<number, Pending>();
  #calls = 0;

  /**
   * @param entry the file that calls `answerCalls`
   * @param name used in messages
   * @param onReport called for every report
   */
  constructor(entry: string, name: string, onReport: (report: unknown) => void) {
    // The process's output is diagnostics for the user; answers use a separate channel.
    const stdio = ['ignore', 2, 2, 'ipc'] as const;
    this.#child = fork(entry, { stdio: [...stdio], serialization: 'advanced', ...execArgvOption() });
    this.#child.on('message', (answer: Answer) => {
      if (answer.type === 'report') {
        onReport(answer.report);
        return;
      }
      const pending = this.#pending.get(answer.call);
      this.#pending.delete(answer.call);
      if (answer.type === 'result') pending?.resolve(answer.result);
      else pending?.reject(fromErrorMessage(answer.error));
    });
    this.#ended = once(this.#child, 'exit').then(([code, signal]: unknown[]) => {
      const why = `the process ${name} of the load test ended with ${String(code ?? signal)}`;
      for (const { reject } of this.#pending.values())
        reject(new KubeloomError('ERR_KUBELOOM_LOADTEST', why));
      this.#pending.clear();
    });
  }

  call<Name extends keyof Table & string>(
    name: Name,
    argument: Parameters<Table[Name]>[0],
  ): ReturnType<Table[Name]> {
    const call = ++this.#calls;
    const answered = new Promise((resolve, reject) => {
      this.#pending.set(call, { resolve, reject });
      const message: Call = { call, name, argument };
      this.#child.send(message, (error) => {
        if (error === null) return;
        this.#pending.delete(call);
        reject(new KubeloomError('ERR_KUBELOOM_LOADTEST', `${name}: ${error.message}`, { cause: error }));
      });
    });
    return answered as ReturnType<Table[Name]>;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill();
    await this.#ended;
  }
}

/** The other process's side. The process ends with the parent. */
export function answerCalls<Table extends CallTable<Table>>(table: Table): void {
  process.on('message', ({ call, name, argument }: Call) => {
    // The parent uses the type of the same table.
    const work: unknown = Reflect.get(table, name);
    (work as (argument: unknown) => Promise<unknown>)(argument).then(
      (result) => tell({ type: 'result', call, result }),
      (error: unknown) => tell({ type: 'failed', call, error: toErrorMessage(error) }),
    );
  });
  // A signal of the terminal reaches every process of the group: the parent decides when this process ends.
  process.on('SIGINT', () => undefined);
  process.on('disconnect', () => process.exit(0));
  // The parent may have ended while this process loaded modules.
  if (!process.connected) process.exit(0);
}

export function sendReport(report: unknown): void {
  tell({ type: 'report', report });
}

function tell(answer: Answer): void {
  // If the parent is gone, `disconnect` ends this process.
  if (process.connected) process.send?.(answer, () => undefined);
}
