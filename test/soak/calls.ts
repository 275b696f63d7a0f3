/** Calls to a process or thread that answers messages, one answer for each request. */
import type { Answer, Request } from './program-messages.ts';

interface Waiting {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
}

export class Calls<Asked> {
  readonly #send: (request: Request<Asked>) => void;
  readonly #waiting = new Map<number, Waiting>();
  #ended: string | undefined;
  #requests = 0;

  constructor(send: (request: Request<Asked>) => void) {
    this.#send = send;
  }

  /** Rejects with the other side's error, and when the other side has ended. */
  async call<Result>(asked: Asked): Promise<Result> {
    if (this.#ended !== undefined) throw new Error(this.#ended);
    const id = this.#requests++;
    const answered = new Promise<unknown>((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    this.#send({ id, asked });
    return (await answered) as Result;
  }

  answered({ id, answer, error }: Answer): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) waiting?.resolve(answer);
    else waiting?.reject(new Error(error));
  }

  end(reason: string): void {
    this.#ended = reason;
    for (const { reject } of this.#waiting.values()) reject(new Error(reason));
    this.#waiting.clear();
  }
}
