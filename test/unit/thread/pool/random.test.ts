/** Workers, work queue and pool with threads that answer, fail, end and exit in random order. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import {
  ItemExponentialFailureRateLimiter,
  PriorityQueue,
  runWorkers,
} from '../../../../src/workqueue/index.ts';
import { ReconcilerPool } from '../../../../src/thread/index.ts';
import { FakeClock } from '../../../../src/tools/apiserver/testing/index.ts';
import type { Answer } from '../../../../src/thread/pool/messages.ts';
import { Chance } from '../../../sim/chance.ts';
import { FakeThread, KeyLedger, fakeCache } from './fake-threads.ts';

const SEEDS = 150;
const STEPS = 120;
const KEYS = ['a', 'b', 'c', 'd', 'e'];

const DONE: Answer = { outcome: 'done', requeueAfterMs: undefined };

function failed(code: string): Answer {
  return { outcome: 'failed', failure: { message: code, stack: undefined, details: { code } } };
}

class Play {
  readonly #chance: Chance;
  readonly #clock: FakeClock = new FakeClock();
  readonly ledger: KeyLedger = new KeyLedger();
  readonly #queue: PriorityQueue<string>;
  readonly #pool: ReconcilerPool;
  readonly #threadsMax: number;
  #threads: FakeThread[] = [];
  #stop = new AbortController();
  #running: Promise<void>;

  constructor(seed: number) {
    const chance = (this.#chance = new Chance(seed));
    const clock = this.#clock;
    this.#threadsMax = chance.integer(1, 4);
    const rateLimiter = new ItemExponentialFailureRateLimiter<unknown>(5, 500);
    this.#queue = new PriorityQueue<string>({ clock, rateLimiter });
    const startThread = (): FakeThread => {
      const thread = new FakeThread(this.ledger);
      this.#threads = this.#threads.filter(({ state }) => state.kind !== 'exited');
      this.#threads.push(thread);
      if (this.#threads.length > this.#threadsMax) this.ledger.violations.push('a thread too many');
      return thread;
    };
    const options = { cache: fakeCache(this.ledger), threads: this.#threadsMax };
    this.#pool = new ReconcilerPool('file:///reconcile.js', options, { clock, startThread });
    this.#running = this.#run();
  }

  async step(): Promise<void> {
    const chance = this.#chance;
    const thread = chance.pick(this.#threads);
    const steps = [
      { weight: 6, run: () => this.#add() },
      { weight: 8, run: () => thread && this.#answer(thread) },
      { weight: 1, run: () => thread?.fail() },
      { weight: 2, run: () => thread?.exit() },
      { weight: 3, run: () => this.#clock.advance(chance.integer(1, 300)) },
    ];
    chance.weighted(steps)?.run();
    if (chance.happens(0.01)) await this.#restart();
    await turn();
    assert.deepEqual(this.ledger.violations, []);
  }

  /** Lets everything that was begun come to an end. */
  async finish(): Promise<void> {
    const queue = this.#queue;
    while (queue.length + queue.inWork + queue.waiting > 0) {
      for (const thread of this.#threads) {
        if (thread.state.kind === 'opening' || thread.state.kind === 'busy') thread.answer(DONE);
        else thread.exit();
      }
      this.#clock.advance(1000);
      await turn();
    }
    for (const key of KEYS) assert.equal(queue.numRequeues(key), 0);
    queue.shutDown();
    await this.#running;
    await this.#pool.close();
    assert.ok(this.#threads.every(({ state }) => state.kind === 'exited'));
    this.ledger.assertComplete();
  }

  #run(): Promise<void> {
    const { signal } = this.#stop;
    return runWorkers(this.#queue, this.#pool, { signal, clock: this.#clock, onError: () => undefined });
  }

  #add(): void {
    const key = this.#chance.pick(KEYS as [string, ...string[]]);
    this.ledger.added(key);
    this.#queue.addWithOptions({ priority: this.#chance.integer(-1, 1) }, key);
  }

  #answer(thread: FakeThread): void {
    const { kind } = thread.state;
    if (kind === 'opening') thread.answer(this.#chance.happens(0.9) ? DONE : unusable());
    if (kind !== 'busy') return;
    if (thread.isAborted) thread.answer({ outcome: 'aborted' });
    else thread.answer(this.#anyAnswer());
  }

  #anyAnswer(): Answer {
    const answers = [
      { weight: 6, answer: DONE },
      { weight: 2, answer: failed('ERR_OF_ANOTHER') },
      { weight: 1, answer: failed('ERR_KUBELOOM_TERMINAL') },
      { weight: 1, answer: { outcome: 'done', requeueAfterMs: this.#chance.integer(1, 50) } as const },
      { weight: 0.5, answer: unusable() },
    ];
    return this.#chance.weighted(answers)?.answer ?? DONE;
  }

  /** Stops the workers, and runs others when the keys in progress have ended. */
  async #restart(): Promise<void> {
    this.#stop.abort();
    await turn();
    while (this.#queue.inWork > 0) {
      for (const thread of this.#threads) {
        this.#answer(thread);
        thread.exit();
      }
      await turn();
    }
    await this.#running;
    this.#stop = new AbortController();
    this.#running = this.#run();
  }
}

function unusable(): Answer {
  return { outcome: 'unusable', failure: { message: 'no function', stack: undefined, details: {} } };
}

test('C217 C218 C220 a key is never in two threads at once, none is lost, and none reads a cache that is too old', async (context) => {
  // Threads that end without a key are reported as warnings.
  context.mock.method(process, 'emitWarning', () => undefined);
  let begun = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    const play = new Play(seed);
    try {
      for (let step = 0; step < STEPS; step++) await play.step();
      await play.finish();
    } catch (cause) {
      throw new Error(`seed ${seed}`, { cause });
    }
    begun += play.ledger.begun;
  }
  assert.ok(begun > SEEDS * 10, `only ${begun} reconciliations`);
});
