/** Threads of a pool as a test plays them: they answer, throw, end, and exit when the test says so. */
import assert from 'node:assert/strict';
import type { SharedCache } from '../../../../src/thread/index.ts';
import type { Answer, ReconcileTask } from '../../../../src/thread/pool/messages.ts';
import type { ReconcilerThread } from '../../../../src/thread/pool/reconciler-thread.ts';

/** Everything that happened to keys, and what must be true of it. */
export class KeyLedger {
  /** The version of the main thread's cache. */
  version = 0;
  /** Keys in a thread that has not exited. */
  readonly #inThread: Set<string> = new Set();
  readonly #addedAt: Map<string, number> = new Map();
  readonly #begunAt: Map<string, number> = new Map();
  /** Keys that have to come again, although nothing has added them since. */
  readonly #owed: Set<string> = new Set();
  /** An error of a thread's call would be one of its key, which the workers try again. */
  readonly violations: string[] = [];
  begun = 0;

  added(key: string): void {
    this.#addedAt.set(key, ++this.version);
  }

  began({ key, resourceVersions: [version = ''] }: ReconcileTask): void {
    if (this.#inThread.has(key)) this.violations.push(`${key} is in two threads`);
    if (!(Number(version) >= (this.#addedAt.get(key) ?? Infinity)))
      this.violations.push(`${key} would read an older cache`);
    this.begun++;
    this.#inThread.add(key);
    this.#owed.delete(key);
    this.#begunAt.set(key, Number(version));
  }

  ended(key: string, isOwed: boolean): void {
    this.#inThread.delete(key);
    if (isOwed) this.#owed.add(key);
  }

  /** Every addition was followed by a reconciliation, and so was every failure that is worth a retry. */
  assertComplete(): void {
    assert.deepEqual([...this.#inThread], []);
    assert.deepEqual([...this.#owed], []);
    for (const [key, version] of this.#addedAt) {
      assert.ok((this.#begunAt.get(key) ?? 0) >= version, `the last addition of ${key} is lost`);
    }
  }
}

type State =
  | { readonly kind: 'opening' | 'idle'; readonly task?: undefined }
  | { readonly kind: 'busy' | 'ending'; readonly task: ReconcileTask | undefined }
  | { readonly kind: 'exited'; readonly task?: undefined };

export class FakeThread implements ReconcilerThread {
  readonly #ledger: KeyLedger;
  readonly exited: Promise<unknown>;
  #exit!: (reason: unknown) => void;
  #answer: (answer: Answer) => void = () => undefined;
  state: State = { kind: 'opening' };
  isAborted = false;

  constructor(ledger: KeyLedger) {
    this.#ledger = ledger;
    this.exited = new Promise((resolve) => (this.#exit = resolve));
  }

  open(): Promise<Answer> {
    return this.#answered();
  }

  run(task: ReconcileTask): Promise<Answer> {
    const { kind } = this.state;
    if (kind !== 'idle' && kind !== 'ending')
      this.#ledger.violations.push(`a key for a thread that is ${kind}`);
    // A message to a thread that is ending is lost.
    if (kind === 'idle') {
      this.#ledger.began(task);
      this.state = { kind: 'busy', task };
      this.isAborted = false;
    } else this.state = { kind: 'ending', task };
    return this.#answered();
  }

  abort(number: number): void {
    if (this.state.task?.number === number) this.isAborted = true;
  }

  async end(): Promise<void> {
    this.fail();
    setImmediate(() => this.exit());
    await this.exited;
  }

  answer(answer: Answer): void {
    const { task } = this.state;
    const isOwed = answer.outcome !== 'done' || answer.requeueAfterMs !== undefined;
    const isTerminal =
      answer.outcome === 'failed' && answer.failure.details['code'] === 'ERR_KUBELOOM_TERMINAL';
    if (task) this.#ledger.ended(task.key, isOwed && !isTerminal);
    this.state = { kind: 'idle' };
    this.#answer(answer);
  }

  /** Its code may go on for a while, and no answer comes any more. */
  fail(): void {
    if (this.state.kind === 'exited') return;
    this.state = { kind: 'ending', task: this.state.task };
  }

  exit(): void {
    if (this.state.kind !== 'ending') return;
    if (this.state.task) this.#ledger.ended(this.state.task.key, true);
    this.state = { kind: 'exited' };
    this.#exit(new Error('exit code 1'));
  }

  async #answered(): Promise<Answer> {
    const answered = new Promise<Answer>((resolve) => (this.#answer = resolve));
    const ended = this.exited.then((reason) => {
      throw reason;
    });
    return Promise.race([answered, ended]);
  }
}

/** A cache of which a pool needs the version and a port. */
export function fakeCache(ledger: KeyLedger): SharedCache {
  const cache = {
    port: () => ({ transferList: [] }),
    close: () => undefined,
    checkRunning: () => undefined,
    get resourceVersions() {
      return [String(ledger.version)];
    },
  };
  return cache as unknown as SharedCache;
}
