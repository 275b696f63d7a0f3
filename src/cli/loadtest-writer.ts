/** The load test's writer, a process of its own, so that its work delays no handler. Its parent tells it when. */
import { setTimeout as delay } from 'node:timers/promises';
import { KubeloomError } from '../errors.ts';
import type { Random } from '../clock.ts';
import { seededRandom } from '../embedded/random.ts';
import { ApiWriter } from './api-write.ts';
import { DUE_KEY, LABEL, LABEL_VALUE, nowUs } from './loadtest-plan.ts';
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
  /** Objects without a write on its way. */
  readonly #idle: string[] = [];
  readonly #deleted: string[] = [];
  #names = 0;
  #writes: Write[] = [];
  #refused = 0;
  #unanswered = 0;
  #firstFailure: string | undefined;

  constructor(task: WriterTask) {
    this.#task = task;
    this.#api = new ApiWriter(task.connection);
    this.#random = seededRandom(task.seed);
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
    return {
      writes: this.#taken(),
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
      await this.#delete(this.#takeIdle());
    } else {
      await this.#update(this.#takeIdle(), dueUs);
    }
  }

  async #create(name: string, dueUs: number): Promise<void> {
    const { metadata } = await this.#api.send('POST', this.#path(), this.#configMap(name, dueUs));
    this.#writes.push([Number(metadata?.resourceVersion), 'ADDED', name]);
    this.#idle.push(name);
  }

  async #update(name: string, dueUs: number): Promise<void> {
    const { metadata } = await this.#api.send('PUT', this.#path(name), this.#configMap(name, dueUs));
    this.#writes.push([Number(metadata?.resourceVersion), 'MODIFIED', name]);
    this.#idle.push(name);
  }

  async #delete(name: string): Promise<void> {
    await this.#api.send('DELETE', this.#path(name));
    this.#writes.push([0, 'DELETED', name]);
    this.#deleted.push(name);
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

  #configMap(name: string, dueUs: number): object {
    return {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, labels: { [LABEL]: LABEL_VALUE } },
      data: { [DUE_KEY]: String(Math.round(dueUs)), padding: this.#padding },
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
// The parent is gone when the channel is: then nobody wants the load.
process.on('disconnect', () => process.exit(0));
