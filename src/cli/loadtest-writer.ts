/** The load test's writer, a separate process, so that its work delays no handler. Its parent sends the commands. */
import { setTimeout as delay } from 'node:timers/promises';
import { KubeloomError } from '../base/errors.ts';
import type { Random } from '../base/clock.ts';
import { seededRandom } from '../apiserver/random.ts';
import { ApiWriter } from './api-write.ts';
import type { WriteVerb } from './api-write.ts';
import { LABEL, LABEL_VALUE } from './loadtest-plan.ts';
import type { FromWriter, LoadOutcome, ToWriter, Write, WriterTask } from './loadtest-plan.ts';
import { nowUs } from './recording-handler.ts';

const POPULATE_CONCURRENCY = 32;
const TICK_MS = 1;
const PROGRESS_INTERVAL_MS = 200;
/** Most objects stay and change; some go, and come back under the same name. */
const CREATE_SHARE = 0.05;
const DELETE_SHARE = 0.05;
const VERBS: Readonly<Record<Write[1], WriteVerb>> = { ADDED: 'POST', MODIFIED: 'PUT', DELETED: 'DELETE' };

class Writer {
  readonly #task: WriterTask;
  readonly #api: ApiWriter;
  readonly #random: Random;
  readonly #padding: string;
  /** Objects without a pending write. */
  readonly #idle: string[] = [];
  readonly #deleted: string[] = [];
  #names = 0;
  #count = 0;
  #lastSentUs = 0;
  #writes: Write[] = [];
  #refused = 0;
  #unanswered = 0;
  #firstFailure: string | undefined;

  constructor(task: WriterTask) {
    this.#task = task;
    this.#api = new ApiWriter(task.connection);
    this.#random = seededRandom(task.plan.seed);
    this.#padding = 'x'.repeat(task.plan.objectBytes);
  }

  get confirmed(): number {
    return this.#writes.length;
  }

  /** @throws the first refusal: a load on less than was asked for proves less */
  async populate(): Promise<LoadOutcome> {
    const startedUs = nowUs();
    let left = this.#task.plan.objects;
    const workers = Array.from({ length: POPULATE_CONCURRENCY }, async () => {
      while (left > 0) {
        left--;
        await this.#write('ADDED', this.#newName(), nowUs());
      }
    });
    await Promise.all(workers);
    return this.#outcome(startedUs);
  }

  /** Resolves when every write has its answer. */
  async load(): Promise<LoadOutcome> {
    const { rate, durationSeconds } = this.#task.plan;
    const total = Math.round(rate * durationSeconds);
    const startedUs = nowUs();
    const inFlight = new Set<Promise<void>>();
    for (let issued = 0; issued < total;) {
      const due = Math.min(total, Math.floor(((nowUs() - startedUs) * rate) / 1e6) + 1);
      for (; issued < due; issued++) {
        const write = this.#attempt(startedUs + (issued * 1e6) / rate);
        inFlight.add(write);
        void write.finally(() => inFlight.delete(write));
      }
      await delay(TICK_MS);
    }
    await Promise.all(inFlight);
    return this.#outcome(startedUs);
  }

  close(): void {
    this.#api[Symbol.dispose]();
  }

  async #attempt(dueUs: number): Promise<void> {
    try {
      await this.#writeSomething(dueUs);
    } catch (error) {
      if (error instanceof KubeloomError && error.code === 'ERR_KUBELOOM_UNREACHABLE') this.#unanswered++;
      else this.#refused++;
      this.#firstFailure ??= String(error);
    }
  }

  async #writeSomething(dueUs: number): Promise<void> {
    const share = this.#random();
    const { objects } = this.#task.plan;
    if (share < CREATE_SHARE || this.#idle.length === 0) {
      await this.#write('ADDED', this.#deleted.shift() ?? this.#newName(), dueUs);
    } else if (share < CREATE_SHARE + DELETE_SHARE && this.#idle.length > objects / 2) {
      await this.#write('DELETED', this.#takeIdle(), dueUs);
    } else {
      await this.#write('MODIFIED', this.#takeIdle(), dueUs);
    }
  }

  async #write(type: Write[1], name: string, dueUs: number): Promise<void> {
    let sentUs = 0;
    const onSent = (): void => {
      sentUs ||= nowUs();
      this.#lastSentUs = nowUs();
    };
    const collection = `/api/v1/namespaces/${this.#task.namespace}/configmaps`;
    const path = type === 'ADDED' ? collection : `${collection}/${name}`;
    const body = type === 'DELETED' ? undefined : this.#configMap(name);
    const { metadata } = await this.#api.send(VERBS[type], path, body, onSent);
    const revision = type === 'DELETED' ? 0 : Number(metadata?.resourceVersion);
    this.#writes.push([revision, type, name, [Math.round(dueUs), sentUs, nowUs()]]);
    (type === 'DELETED' ? this.#deleted : this.#idle).push(name);
  }

  /** Returns the outcome of a command, and begins anew. */
  #outcome(startedUs: number): LoadOutcome {
    const { rate } = this.#task.plan;
    const writes = this.#writes;
    this.#writes = [];
    // The last write has its share of the time as well.
    const seconds = (this.#lastSentUs - startedUs) / 1e6 + 1 / rate;
    return {
      writes,
      rateAchieved: Math.round((writes.length * 10) / seconds) / 10,
      refused: this.#refused,
      unanswered: this.#unanswered,
      ...(this.#firstFailure === undefined ? {} : { firstFailure: this.#firstFailure }),
    };
  }

  #newName(): string {
    return `load-${this.#names++}`;
  }

  #takeIdle(): string {
    const index = Math.floor(this.#random() * this.#idle.length);
    const name = this.#idle[index] ?? '';
    const last = this.#idle.pop() ?? '';
    if (index < this.#idle.length) this.#idle[index] = last;
    return name;
  }

  #configMap(name: string): object {
    return {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, labels: { [LABEL]: LABEL_VALUE } },
      // A server does not store an update without a change.
      data: { count: String(this.#count++), padding: this.#padding },
    };
  }
}

function tell(message: FromWriter): void {
  process.send?.(message);
}

let writer: Writer | undefined;
setInterval(() => {
  if (writer) tell({ type: 'progress', writes: writer.confirmed });
}, PROGRESS_INTERVAL_MS);

async function obey(message: ToWriter): Promise<void> {
  try {
    if (message.type === 'populate') {
      writer = new Writer(message.task);
      tell({ type: 'done', outcome: await writer.populate() });
    } else if (writer) {
      tell({ type: 'done', outcome: await writer.load() });
      writer.close();
    }
  } catch (error) {
    const code = error instanceof KubeloomError ? error.code : 'ERR_KUBELOOM_LOADTEST';
    tell({ type: 'failed', code, message: error instanceof Error ? error.message : String(error) });
  }
}

process.on('message', (message: ToWriter) => void obey(message));
// A closed channel means that the parent has ended: the load is no longer needed.
process.on('disconnect', () => process.exit(0));
