/** Runs expressions inside the threads of this process through the inspector, so the threads need no hook for tests. */
import { Session } from 'node:inspector/promises';
import { setImmediate } from 'node:timers/promises';

interface Attached {
  readonly sessionId: string;
  readonly url: string;
}

/** Entry file of a thread. */
export type ThreadFile = 'reflector.js' | 'piscina/dist/worker.js';

export class InsideThreads implements AsyncDisposable {
  readonly #session: Session = new Session();
  readonly #attached: Attached[] = [];
  /** Sessions of threads that end. */
  readonly #doomed: Set<string> = new Set();
  #requests = 0;
  readonly #answers: Map<number, () => void> = new Map();

  private constructor() {
    this.#session.connect();
    this.#session.on('NodeWorker.attachedToWorker', ({ params }) => {
      this.#attached.push({ sessionId: params.sessionId, url: params.workerInfo.url });
    });
    this.#session.on('NodeWorker.receivedMessageFromWorker', ({ params }) => {
      const { id } = JSON.parse(params.message) as { readonly id?: number };
      if (id !== undefined) this.#answers.get(id)?.();
    });
    this.#session.on('NodeWorker.detachedFromWorker', ({ params }) => {
      const at = this.#attached.findIndex(({ sessionId }) => sessionId === params.sessionId);
      if (at >= 0) this.#attached.splice(at, 1);
    });
  }

  static async open(): Promise<InsideThreads> {
    const inside = new InsideThreads();
    await inside.#session.post('NodeWorker.enable', { waitForDebuggerOnStart: false });
    return inside;
  }

  /** Runs the expression; resolves when it has run. */
  async ran(file: ThreadFile, expression: string): Promise<void> {
    let answered: () => void = () => undefined;
    const answer = new Promise<void>((resolve) => (answered = resolve));
    await this.run(file, expression, answered);
    await answer;
  }

  /** Ends a thread by the expression. All threads of the process end with it, so a later call waits for new ones. */
  async end(file: ThreadFile, expression: string): Promise<void> {
    await this.run(file, expression);
    for (const { sessionId } of this.#attached) this.#doomed.add(sessionId);
  }

  /** Runs the expression without waiting for a result: the thread may end or never continue. */
  async run(file: ThreadFile, expression: string, answered?: () => void): Promise<void> {
    let thread: Attached | undefined;
    // A thread that has just started may not be attached yet.
    const isWanted = ({ url, sessionId }: Attached): boolean =>
      url.endsWith(file) && !this.#doomed.has(sessionId);
    while (!(thread = this.#attached.find(isWanted))) await setImmediate();
    const id = ++this.#requests;
    if (answered) this.#answers.set(id, answered);
    const message = JSON.stringify({ id, method: 'Runtime.evaluate', params: { expression } });
    await this.#session.post('NodeWorker.sendMessageToWorker', { sessionId: thread.sessionId, message });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#session.post('NodeWorker.disable');
    this.#session.disconnect();
  }
}

/** Blocks the thread for ever. */
export const STOP = 'setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0))';
/** Makes the thread's next store to shared memory throw. */
export const THROW = "Atomics.store = () => { throw new Error('thrown by a store'); }";
export const THROW_SOON = "setTimeout(() => { throw new Error('thrown by a timer'); })";
export const EXIT = 'setTimeout(() => process.exit(3))';
