/** Turns the content of a workload file into a workload, and finds contradictions. Pure. */
import { KubeloomError } from '../../../base/errors.ts';
import { parseLabelSelector } from '../../../kube/label-selector.ts';
import { parseThreshold } from './threshold.ts';
import { bytesOf, durationMsOf } from './units.ts';
import type { FileLoad, FilePhase, FileSize, FileSlowness, WorkloadFile } from './workload-file.ts';
import type {
  Load,
  ObjectKind,
  Phase,
  SizeDistribution,
  Slowness,
  Threshold,
  WatcherGroup,
  Workload,
} from './workload.ts';

/** The place of a value: `['phases', 0, 'steady', 'rate']`. */
export type Path = readonly (string | number)[];

export interface Problem {
  readonly path: Path;
  /** True if the problem is the name of the member, not the value. */
  readonly isName?: boolean;
  readonly message: string;
}

type NamedFile = WorkloadFile & { readonly name: string; readonly seed: number };

/** The problems are empty if the workload can run. */
export function toWorkload(file: NamedFile): {
  readonly workload: Workload;
  readonly problems: readonly Problem[];
} {
  const reader = new Reader(file);
  return { workload: reader.workload(), problems: reader.problems };
}

class Reader {
  readonly problems: Problem[] = [];
  readonly #file: NamedFile;
  readonly #kinds: readonly ObjectKind[];
  readonly #groups: readonly string[];
  /** Groups started by a `sync` phase. */
  readonly #started = new Set<string>();
  readonly #phaseNames = new Set<string>();
  /** The number in the last generated name for phases of a type. */
  readonly #phaseNumbers = new Map<string, number>();

  constructor(file: NamedFile) {
    this.#file = file;
    this.#kinds = file.objects.map(({ kind }) => kind);
    this.#groups = file.watchers.map(({ name }) => name);
  }

  workload(): Workload {
    const { name, seed, limits } = this.#file;
    const objects = this.#file.objects.map(({ size, ...rest }, index) => {
      if (this.#kinds.indexOf(rest.kind) < index) {
        this.#find(
          ['objects', index, 'kind'],
          `${rest.kind} appears twice: one entry has all objects of a kind`,
        );
      }
      if (rest.shape !== undefined && rest.kind !== 'Pod') {
        this.#find(['objects', index, 'shape'], `only Pods have a shape, and these are ${rest.kind}s`);
      }
      return { ...rest, size: this.#size(size, ['objects', index, 'size']) };
    });
    const watchers = this.#file.watchers.map((_, index) => this.#watcher(index));
    const phases = this.#file.phases.map((phase, index) => this.#phase(phase, ['phases', index]));
    this.#file.watchers.forEach((group, index) => {
      if (!this.#started.has(group.name)) {
        this.#find(['watchers', index], `${group.name} are never started: add a phase sync: {}`);
      }
    });
    const thresholds = this.#file.thresholds.flatMap((line, index) => this.#threshold(line, index));
    const countOf = (kinds: readonly ObjectKind[]): number =>
      objects.reduce((sum, each) => sum + (kinds.includes(each.kind) ? each.count : 0), 0);
    // Each creation phase creates all objects of the named kinds, even if an earlier phase did.
    const created = phases.reduce((sum, each) => sum + (each.type === 'create' ? countOf(each.kinds) : 0), 0);
    const count = Math.max(created, countOf(this.#kinds));
    if (count > limits.objects) {
      this.#find(['objects'], `${count} objects are more than limits.objects, which is ${limits.objects}`);
    }
    return {
      name,
      seed,
      objects,
      watchers,
      phases,
      thresholds,
      limits: { objectsMax: limits.objects, ratePerSecondMax: limits.rate },
    };
  }

  #find(path: Path, message: string): void {
    this.problems.push({ path, message });
  }

  #size(size: FileSize, path: Path): SizeDistribution {
    if (typeof size !== 'object') return { distribution: 'constant', bytes: bytesOf(size) };
    const { distribution } = size;
    const [low, high] = distribution === 'uniform' ? [size.min, size.max] : [size.p50, size.p99];
    const names = distribution === 'uniform' ? 'min and max' : 'p50 and p99';
    if (low === undefined || high === undefined) {
      this.#find(path, `${distribution} needs ${names}`);
      return { distribution: 'constant', bytes: 0 };
    }
    const [from, to] = [bytesOf(low), bytesOf(high)];
    if (from > to || (distribution === 'lognormal' && from === 0)) {
      this.#find(path, `${names} must ascend${distribution === 'lognormal' ? ' and be above 0' : ''}`);
    }
    return distribution === 'uniform'
      ? { distribution, bytesMin: from, bytesMax: to }
      : { distribution, bytesP50: from, bytesP99: to };
  }

  #watcher(index: number): WatcherGroup {
    const {
      slow,
      reconnect,
      of = this.#kinds[0] ?? 'ConfigMap',
      ...group
    } = this.#file.watchers[index] as FileWatcher;
    const path = ['watchers', index];
    if (this.#groups.indexOf(group.name) < index)
      this.#find([...path, 'name'], `${group.name} appears twice`);
    if (!this.#kinds.includes(of))
      this.#find([...path, 'of'], `${of} is none of the objects: ${this.#kinds.join(', ')}`);
    if (group.processes > group.count) {
      this.#find(
        [...path, 'processes'],
        `${group.processes} processes are more than the ${group.count} watchers`,
      );
    }
    if (slow?.handler !== undefined) this.#checkHandlers([group.name], [...path, 'slow']);
    this.#checked([...path, 'selector'], () => parseLabelSelector(group.selector));
    return {
      ...group,
      of,
      ...(slow === undefined ? {} : { slow: slownessOf(slow) }),
      ...(reconnect === undefined ? {} : { reconnectEveryMs: durationMsOf(reconnect.every) }),
    };
  }

  #phase(phase: FilePhase, at: Path): Phase {
    const [type = 'pause'] = Object.keys(phase) as Phase['type'][];
    const path = [...at, type];
    const name = phase[type]?.name ?? this.#freeName(type);
    if (this.#phaseNames.has(name)) this.#find([...path, 'name'], `${name} appears twice`);
    this.#phaseNames.add(name);
    const { create, sync, steady, pause } = phase;
    const { 'relist-storm': storm, 'slow-consumer': slow, 'server-restart': restart } = phase;
    if (create) {
      const rate = create.rate === undefined ? {} : { ratePerSecond: this.#limited(create.rate, path) };
      return { type: 'create', name, kinds: this.#kindsOf(create.kinds, path), ...rate };
    }
    if (sync) {
      const watchers = sync.watchers ?? this.#groups.filter((group) => !this.#started.has(group));
      for (const group of this.#groupsOf(watchers, path, false)) this.#started.add(group);
      return { type: 'sync', name, watchers, timeoutMs: durationMsOf(sync.timeout) };
    }
    if (steady) {
      // The schema requires a rate.
      return {
        type: 'steady',
        name,
        durationMs: durationMsOf(steady.for),
        load: this.#load(steady, path) as Load,
      };
    }
    if (storm) {
      const watchers = this.#groupsOf(storm.watchers ?? [...this.#started], path, true);
      const everyMs = durationMsOf(storm.every);
      return { type: 'relist-storm', name, watchers, everyMs, ...this.#loaded(storm, path) };
    }
    if (slow) {
      const watchers = this.#groupsOf(slow.watchers ?? [...this.#started], path, true);
      if (slow.slow.handler !== undefined) this.#checkHandlers(watchers, [...path, 'slow']);
      return {
        type: 'slow-consumer',
        name,
        watchers,
        slow: slownessOf(slow.slow),
        ...this.#loaded(slow, path),
      };
    }
    if (restart) {
      return { type: 'server-restart', name, command: restart.command, ...this.#loaded(restart, path) };
    }
    return { type: 'pause', name, durationMs: durationMsOf(pause?.for ?? '0s') };
  }

  /** steady, then steady-2 */
  #freeName(type: string): string {
    for (let number = (this.#phaseNumbers.get(type) ?? 0) + 1; ; number++) {
      const name = number === 1 ? type : `${type}-${number}`;
      if (this.#phaseNames.has(name)) continue;
      this.#phaseNumbers.set(type, number);
      return name;
    }
  }

  #kindsOf(kinds: readonly ObjectKind[] | undefined, path: Path): readonly ObjectKind[] {
    for (const kind of kinds ?? []) {
      if (!this.#kinds.includes(kind)) {
        this.#find([...path, 'kinds'], `${kind} is none of the objects: ${this.#kinds.join(', ')}`);
      }
    }
    return kinds ?? this.#kinds;
  }

  #groupsOf(watchers: readonly string[], path: Path, isRunning: boolean): readonly string[] {
    const at = [...path, 'watchers'];
    for (const group of watchers) {
      if (!this.#groups.includes(group)) {
        this.#find(at, `${group} is none of the watchers: ${this.#groups.join(', ')}`);
      } else if (this.#started.has(group) !== isRunning) {
        this.#find(at, isRunning ? `${group} are not started yet` : `${group} are already started`);
      }
    }
    if (watchers.length === 0 && this.#groups.length > 0)
      this.#find(path, 'there are no watchers for this phase');
    return watchers;
  }

  /** A slow handler would have no effect on a client that does not wait for handlers. */
  #checkHandlers(watchers: readonly string[], path: Path): void {
    for (const { name, client } of this.#file.watchers) {
      if (client !== 'client-node' || !watchers.includes(name)) continue;
      this.#find(path, `client-node, the client of ${name}, waits for no handler: use { socket: 64KiB }`);
    }
  }

  #loaded(file: FileLoad, path: Path): { readonly durationMs: number; readonly load?: Load } {
    const load = this.#load(file, path);
    return { durationMs: durationMsOf(file.for), ...(load === undefined ? {} : { load }) };
  }

  #load({ rate, arrival, mix, kinds }: FileLoad, path: Path): Load | undefined {
    if (rate === undefined) return undefined;
    const { from, to } = typeof rate === 'number' ? { from: rate, to: rate } : rate;
    this.#limited(Math.max(from, to), path);
    const { create = 0, update = 0, status = 0, delete: deleted = 0 } = mix;
    if (create + update + status + deleted === 0)
      this.#find([...path, 'mix'], 'at least one share must be above 0');
    return {
      rate: { fromPerSecond: from, toPerSecond: to },
      arrival,
      mix: { create, update, status, delete: deleted },
      kinds: this.#kindsOf(kinds, path),
    };
  }

  #limited(rate: number, path: Path): number {
    const { limits } = this.#file;
    if (rate > limits.rate) {
      this.#find([...path, 'rate'], `${rate} a second is more than limits.rate, which is ${limits.rate}`);
    }
    return rate;
  }

  #threshold(line: string, index: number): Threshold[] {
    const path = ['thresholds', index];
    const threshold = this.#checked(path, () => parseThreshold(line));
    const phase = threshold?.phase;
    if (phase !== undefined && !this.#phaseNames.has(phase)) {
      this.#find(path, `${phase} is none of the phases: ${[...this.#phaseNames].join(', ')}`);
    }
    return threshold ? [threshold] : [];
  }

  #checked<T>(path: Path, work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof KubeloomError)) throw error;
      this.#find(path, error.message);
      return undefined;
    }
  }
}

type FileWatcher = WorkloadFile['watchers'][number];

function slownessOf({ handler, socket }: FileSlowness): Slowness {
  return handler === undefined
    ? { type: 'socket', bytesPerSecond: bytesOf(socket ?? 0) }
    : { type: 'handler', delayMs: durationMsOf(handler) };
}
