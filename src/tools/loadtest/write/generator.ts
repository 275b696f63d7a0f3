/** Writes objects: all of a kind at once, or at a rate in open loop. Keeps the times of every write. */
import { messageOf } from '../../../base/errors.ts';
import { sleep } from '../../../base/sleep.ts';
import type { Random } from '../../../base/clock.ts';
import { resourcePath } from '../../../kube/resource.ts';
import { KubeStatusError } from '../../../kube/status.ts';
import { seededRandom } from '../../../base/random.ts';
import type { LiveLatencies } from '../live.ts';
import type { ChangeName } from '../result.ts';
import { LoadedKubeConfig } from '../../../kube/loaded-kube-config.ts';
import type { KubeConfigData } from '../../../kube/loaded-kube-config.ts';
import { nowUs } from '../watch/recording-handler.ts';
import type { CreatePhase, Load, Mix, ObjectGroup, Workload } from '../workload/workload.ts';
import { ApiWriter } from './api-writer.ts';
import type { WriteVerb } from './api-writer.ts';
import { arrivals } from './arrival.ts';
import { bodyOf, bytesFrom, hasStatus, nameOf, namespaceOf, resourceOf, updateOf } from './kinds.ts';
import type { RunPlace } from './kinds.ts';
import { RecentLatencies } from './recent-latencies.ts';

/** A write that the server confirmed. */
export interface Write {
  /** The index of the kind in the workload. */
  readonly group: number;
  /** The number of the object. */
  readonly n: number;
  readonly change: ChangeName;
  /** 0 for a deletion: the server's answer omits it. */
  readonly revision: number;
  /** Times by `nowUs`. */
  readonly dueUs: number;
  readonly sentUs: number;
  readonly answeredUs: number;
}

export interface WriteOutcome {
  /** Confirmed writes in the order of confirmation, which for a single object is the order of the writes. */
  readonly writes: readonly Write[];
  readonly refused: number;
  readonly unanswered: number;
  readonly firstFailure: string | undefined;
  /** Writes a second that were due; undefined for a phase without a rate. */
  readonly rateAsked: number | undefined;
  /** Confirmed writes a second, from when the first was due to when the last was sent. */
  readonly rateAchieved: number;
}

export interface GeneratorTask {
  /** The credentials are renewed when they expire. */
  readonly kubeConfig: KubeConfigData;
  readonly workload: Workload;
  readonly place: RunPlace;
}

/** Sums since the start of the run. */
export interface GeneratorProgress {
  readonly due: number;
  readonly sent: number;
  readonly answered: number;
  readonly failed: number;
}

interface PendingWrite {
  readonly group: number;
  readonly n: number;
  readonly change: ChangeName;
}

const CREATE_CONCURRENCY = 32;
const TICK_MS = 1;

export class Generator {
  readonly #task: GeneratorTask;
  readonly #api: ApiWriter;
  readonly #random: Random;
  readonly #pools: readonly Pool[];
  #stopping = new AbortController();
  #count = 0;
  #progress = { due: 0, sent: 0, answered: 0, failed: 0 };
  readonly #late = new RecentLatencies();
  readonly #answers = new RecentLatencies();
  #lastSentUs = 0;
  #writes: Write[] = [];
  #failures = { refused: 0, unanswered: 0, first: undefined as string | undefined };

  constructor(task: GeneratorTask) {
    this.#task = task;
    this.#api = new ApiWriter(new LoadedKubeConfig(task.kubeConfig));
    this.#random = seededRandom(task.workload.seed);
    this.#pools = task.workload.objects.map(({ count }) => new Pool(count));
  }

  get progress(): GeneratorProgress {
    return { ...this.#progress };
  }

  get latencies(): LiveLatencies {
    const atUs = nowUs();
    return { dueToSent: this.#late.quantiles(atUs), sentToAnswered: this.#answers.quantiles(atUs) };
  }

  /** Creates all objects of these kinds. @throws the first error: a test with fewer objects than requested proves less */
  async create({ kinds, ratePerSecond }: CreatePhase): Promise<WriteOutcome> {
    const startedUs = this.#begin();
    const groups = this.#groupsOf(kinds);
    const names = groups.flatMap((group) =>
      Array.from({ length: this.#objects(group).count }, () => ({ group, change: 'create' }) as const),
    );
    let issued = 0;
    const workers = Array.from({ length: CREATE_CONCURRENCY }, async () => {
      for (let index = issued++; index < names.length; index = issued++) {
        if (this.#stopping.signal.aborted) return;
        const dueUs = ratePerSecond === undefined ? nowUs() : startedUs + (index * 1e6) / ratePerSecond;
        await this.#until(dueUs);
        const { group, change } = names[index] as (typeof names)[number];
        this.#progress.due++;
        await this.#write({ group, n: this.#pool(group).takeNew(), change }, dueUs);
      }
    });
    await Promise.all(workers);
    return this.#outcome(startedUs, 0, ratePerSecond);
  }

  /** Writes for a time. Resolves when every write is answered. */
  async load(load: Load, durationMs: number): Promise<WriteOutcome> {
    const startedUs = this.#begin();
    const inFlight = new Set<Promise<void>>();
    let due = 0;
    for (const atMs of arrivals(load, durationMs, this.#random)) {
      const dueUs = startedUs + atMs * 1000;
      await this.#until(dueUs);
      if (this.#stopping.signal.aborted) break;
      due++;
      this.#progress.due++;
      const write = this.#attempt(this.#choose(load), dueUs);
      inFlight.add(write);
      void write.finally(() => inFlight.delete(write));
    }
    await Promise.all(inFlight);
    return this.#outcome(startedUs, durationMs, (due * 1000) / durationMs);
  }

  /** Ends the present phase; writes in flight are still answered. */
  stop(): void {
    this.#stopping.abort();
  }

  /** Begins a phase; returns the start time. */
  #begin(): number {
    this.#stopping = new AbortController();
    return nowUs();
  }

  /** Resolves at once for a time in the past, so that late writes are sent together. */
  async #until(dueUs: number): Promise<void> {
    while (nowUs() < dueUs && !this.#stopping.signal.aborted) await sleep(TICK_MS);
  }

  async #attempt(write: PendingWrite, dueUs: number): Promise<void> {
    try {
      await this.#write(write, dueUs);
    } catch (error) {
      this.#progress.failed++;
      if (error instanceof KubeStatusError) this.#failures.refused++;
      else this.#failures.unanswered++;
      this.#failures.first ??= messageOf(error);
    }
  }

  #choose({ mix, kinds }: Load): PendingWrite {
    const groups = this.#groupsOf(kinds);
    const objects = groups.reduce((sum, group) => sum + this.#objects(group).count, 0);
    let place = this.#random() * objects;
    const group = groups.find((each) => (place -= this.#objects(each).count) < 0) ?? groups[0] ?? 0;
    const pool = this.#pool(group);
    const change = this.#changeOf(mix, pool);
    if (change === 'create') return { group, change, n: pool.takeDeleted() ?? pool.takeNew() };
    return { group, change, n: pool.takeIdle(this.#random()) };
  }

  /**
   * Updates an object if a deletion would leave less than half of the objects, or a creation would exceed the limit.
   */
  #changeOf({ create, update, status, delete: deleted }: Mix, pool: Pool): ChangeName {
    const { objectsMax } = this.#task.workload.limits;
    const share = this.#random() * (create + update + status + deleted);
    const isFull = this.#pools.reduce((sum, each) => sum + each.alive, 0) >= objectsMax;
    if (pool.idle === 0 || (share < create && !isFull)) return 'create';
    if (share >= create && share < create + deleted && pool.idle > pool.count / 2) return 'delete';
    return share >= create + deleted && share < create + deleted + status ? 'status' : 'update';
  }

  async #write({ group, n, change }: PendingWrite, dueUs: number): Promise<void> {
    let sentUs = 0;
    const onSent = (): void => {
      if (sentUs === 0) this.#progress.sent++;
      sentUs ||= nowUs();
      this.#lastSentUs = nowUs();
    };
    const { verb, body } = this.#request(group, n, change);
    const { metadata } = await this.#api.send(verb, this.#path(group, n, change), body, onSent);
    const revision = change === 'delete' ? 0 : Number(metadata?.resourceVersion);
    const answeredUs = nowUs();
    this.#writes.push({ group, n, change, revision, dueUs: Math.round(dueUs), sentUs, answeredUs });
    this.#late.observe(answeredUs, (sentUs - dueUs) / 1000);
    this.#answers.observe(answeredUs, (answeredUs - sentUs) / 1000);
    this.#progress.answered++;
    this.#pool(group).give(n, change);
  }

  #path(group: number, n: number, change: ChangeName): string {
    const objects = this.#objects(group);
    const { place } = this.#task;
    const collection = resourcePath(resourceOf(objects.kind, place.run), namespaceOf(n, objects, place));
    if (change === 'create') return collection;
    if (change === 'delete') return `${collection}/${nameOf(n)}?gracePeriodSeconds=0`;
    return `${collection}/${nameOf(n)}${change === 'status' && hasStatus(objects.kind) ? '/status' : ''}`;
  }

  #request(
    group: number,
    n: number,
    change: ChangeName,
  ): { readonly verb: WriteVerb; readonly body?: object } {
    if (change === 'delete') return { verb: 'DELETE' };
    const objects = this.#objects(group);
    const { place } = this.#task;
    const content = { n, count: this.#count++, bytes: bytesFrom(objects.size, this.#random) };
    if (change === 'create') return { verb: 'POST', body: bodyOf(content, objects, place) };
    return updateOf(content, change, objects, place);
  }

  /** Returns the outcome of a phase, and resets the counts. */
  #outcome(startedUs: number, durationMs: number, rateAsked: number | undefined): WriteOutcome {
    const writes = this.#writes;
    const { refused, unanswered, first } = this.#failures;
    this.#writes = [];
    this.#failures = { refused: 0, unanswered: 0, first: undefined };
    const seconds = Math.max(durationMs / 1000, (this.#lastSentUs - startedUs) / 1e6, 0.001);
    const rateAchieved = Math.round((writes.length * 10) / seconds) / 10;
    return { writes, refused, unanswered, firstFailure: first, rateAsked, rateAchieved };
  }

  #groupsOf(kinds: Load['kinds']): number[] {
    return this.#task.workload.objects.flatMap(({ kind }, index) => (kinds.includes(kind) ? [index] : []));
  }

  #objects(group: number): ObjectGroup {
    return this.#task.workload.objects[group] as ObjectGroup;
  }

  #pool(group: number): Pool {
    return this.#pools[group] as Pool;
  }
}

/** The objects of a kind: numbers without a pending write, and deleted numbers, which are reused. */
class Pool {
  readonly count: number;
  readonly #idle: number[] = [];
  readonly #deleted: number[] = [];
  #numbers = 0;

  constructor(count: number) {
    this.count = count;
  }

  get idle(): number {
    return this.#idle.length;
  }

  /** Objects that exist or are being created. */
  get alive(): number {
    return this.#numbers - this.#deleted.length;
  }

  takeNew(): number {
    return this.#numbers++;
  }

  takeDeleted(): number | undefined {
    return this.#deleted.shift();
  }

  takeIdle(chance: number): number {
    const index = Math.floor(chance * this.#idle.length);
    const taken = this.#idle[index] ?? 0;
    const last = this.#idle.pop() ?? 0;
    if (index < this.#idle.length) this.#idle[index] = last;
    return taken;
  }

  give(n: number, change: ChangeName): void {
    (change === 'delete' ? this.#deleted : this.#idle).push(n);
  }
}
