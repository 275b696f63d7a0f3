/**
 * The record of an election behind a bad network: requests and answers are slow, lost, duplicated or refused, and another
 * program changes the object now and then. All times are true times.
 */
import type { FakeClock } from '../../../src/tools/apiserver/testing/index.ts';
import type { Random } from '../../../src/base/clock.ts';
import { KubeloomError } from '../../../src/base/errors.ts';
import type { LeaderElectionRecord, ResourceLock, StoredRecord } from '../../../src/controller/index.ts';

/** One process, as the server sees it. */
export interface Client {
  readonly identity: string;
  readonly isCutOff: boolean;
  /** Loses all that the process sends for a while. */
  cutOff(): void;
  /** Returns the wall time of the process, which is in its records and may be wrong. */
  wallMs(): number;
  /** Runs an answer in the process, unless it is dead. */
  run(task: () => void): void;
}

const FATES = [
  'slow-request',
  'slow-answer',
  'lost',
  'answer-lost',
  'refused',
  'duplicated',
  'labelled',
] as const;
type Fate = (typeof FATES)[number];

const FAST_MS = 120;
/** Share of slow answers after which the network fails altogether. */
const FAILING_SHARE = 0.2;

type Operation = () => StoredRecord | undefined;

export class ElectionServer {
  readonly #truth: FakeClock;
  readonly #random: Random;
  #stored: StoredRecord | undefined;
  #version = 0;
  /** Longest time that a slow request or answer takes. */
  readonly #slowMs: number;
  /** Share of requests that something happens to. */
  badShare = 0;
  /** Whether a version that was not read can be replaced. Only in a mutant. */
  isCareless = false;

  constructor(truth: FakeClock, random: Random, slowMs: number) {
    this.#slowMs = slowMs;
    this.#truth = truth;
    this.#random = random;
  }

  lockOf(client: Client): ResourceLock {
    const write = async (read: unknown, record: LeaderElectionRecord): Promise<StoredRecord> => {
      const written = { ...record, renewTime: String(client.wallMs()) };
      const answer = await this.#send(client, () => this.#write(read, written));
      if (!answer) throw new Error('the server answered a write without the record');
      return answer;
    };
    return {
      identity: client.identity,
      describe: () => 'default/simulated',
      get: () => this.#send(client, () => this.#stored),
      create: (record) => write(undefined, record),
      update: ({ source }, record) => write(source, record),
    };
  }

  #write(read: unknown, record: LeaderElectionRecord): StoredRecord {
    if (read !== this.#stored?.source && !this.isCareless)
      throw new KubeloomError('ERR_KUBELOOM_CONFLICT', `${String(read)} is not the version`);
    this.#stored = { record, source: ++this.#version };
    return this.#stored;
  }

  #send(client: Client, operation: Operation): Promise<StoredRecord | undefined> {
    const fate = client.isCutOff ? 'lost' : this.#fate();
    return new Promise((resolve, reject) => {
      const answer = (result: () => StoredRecord | undefined): void => {
        const passOn = (): void => client.run(() => settle(result, resolve, reject));
        this.#after(fate === 'slow-answer', passOn);
        if (fate === 'slow-answer' && this.#random() < FAILING_SHARE) client.cutOff();
      };
      this.#after(fate === 'slow-request', () => {
        if (fate === 'lost') return;
        if (fate === 'labelled' && this.#stored) this.#stored = { ...this.#stored, source: ++this.#version };
        if (fate === 'refused' && this.#random() < 0.5) return answer(refused);
        const first = outcomeOf(operation);
        if (fate === 'refused') return answer(refused);
        if (fate === 'duplicated') return this.#after(false, () => answer(outcomeOf(operation)));
        if (fate !== 'answer-lost') answer(first);
      });
    });
  }

  #fate(): Fate | undefined {
    return this.#random() < this.badShare ? FATES[Math.floor(this.#random() * FATES.length)] : undefined;
  }

  #after(isSlow: boolean, task: () => void): void {
    this.#truth.schedule(this.#random() * (isSlow ? this.#slowMs : FAST_MS), task);
  }
}

function refused(): never {
  throw new Error('500');
}

/** Applies the operation now; the returned function gives its outcome. */
function outcomeOf(operation: Operation): () => StoredRecord | undefined {
  try {
    const stored = operation();
    return () => stored;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

function settle<T>(result: () => T, resolve: (value: T) => void, reject: (error: unknown) => void): void {
  try {
    resolve(result());
  } catch (error) {
    reject(error);
  }
}
