/** The load test's writer, a separate process, so that its work delays no handler. Its parent sends the commands. */
import { setTimeout as delay } from 'node:timers/promises';
import { KubeloomError } from '../base/errors.ts';
import type { Random } from '../base/clock.ts';
import { seededRandom } from '../apiserver/random.ts';
import { ApiWriter } from './api-write.ts';
import type { WriteVerb } from './api-write.ts';
import { LABEL, LABEL_VALUE, nowUs } from './loadtest-plan.ts';
import type { FromWriter, LoadOutcome, ToWriter, Write, WriterTask } from './loadtest-plan.ts';

const POPULATE_CONCURRENCY = 32;
const TICK_MS = 1;
const PROGRESS_INTERVAL_MS = 200;
/** Most objects stay and change; some go, and come back under the same name. */
const CREATE_SHARE = 0.05;
const DELETE_SHARE = 0.05;

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
  async populate(): Promise<readonly Write[]> {
    let left = this.#task.plan.objects;
    const workers = Array.from({ length: POPULATE_CONCURRENCY }, async () => {
      while (left > 0) {
        left--;
        await this.#create(this.#newName(), nowUs());
      }
    });
    await Promise.all(workers);
    return this.#taken();
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
    const failure = this.#firstFailure;
    const writes = this.#taken();
    // The last write has its share of the time as well.
    const seconds = (this.#lastSentUs - startedUs) / 1e6 + 1 / rate;
    return {
      writes,
      rateAchieved: Math.round((writes.length * 10) / seconds) / 10,
      refused: this.#refused,
      unanswered: this.#unanswered,
      ...(failure === undefined ? {} : { firstFailure: failure }),
    };
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
      await this.#create(this.#deleted.shift() ?? this.#newName(), dueUs);
    } else if (share < CREATE_SHARE + DELETE_SHARE && this.#idle.length > objects / 2) {
      await this.#delete(this.#takeIdle(), dueUs);
    } else {
      await this.#update(this.#takeIdle(), dueUs);
    }
  }

  async #create(name: string, dueUs: number): Promise<void> {
    this.#writes.push(await this.#write('POST', 'ADDED', name, dueUs));
    this.#idle.push(name);
  }

  async #update(name: string, dueUs: number): Promise<void> {
    this.#writes.push(await this.#write('PUT', 'MODIFIED', name, dueUs));
    this.#idle.push(name);
  }

  async #delete(name: string, dueUs: number): Promise<void> {
    this.#writes.push(await this.#write('DELETE', 'DELETED', name, dueUs));
    this.#deleted.push(name);
  }

  async #write(verb: WriteVerb, type: Write[1], name: string, dueUs: number): Promise<Write> {
    let sentUs = 0;
    const onSent = (): void => {
      sentUs ||= nowUs();
      this.#lastSentUs = nowUs();
    };
    const path = this.#path(verb === 'POST' ? undefined : name);
    const body = verb === 'DELETE' ? undefined : this.#configMap(name);
    const { metadata } = await this.#api.send(verb, path, body, onSent);
    const revision = type === 'DELETED' ? 0 : Number(metadata?.resourceVersion);
    return [revision, type, name, [Math.round(dueUs), sentUs, nowUs()]];
  }

  #taken(): readonly Write[] {
    const taken = this.#writes;
    this.#writes = [];
    return taken;
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

  #path(name?: string): string {
    const collection = `/api/v1/namespaces/${this.#task.namespace}/configmaps`;
    return name === undefined ? collection : `${collection}/${name}`;
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
      tell({ type: 'populated', writes: await writer.populate() });
    } else if (writer) {
      tell({ type: 'loaded', outcome: await writer.load() });
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
