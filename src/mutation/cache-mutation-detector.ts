/**
 * Finds writes to shared objects by comparing: every object that is added is copied, and compared with its copy
 * once a second for two to four minutes. client-go's CacheMutationDetector. Dear in memory and time, and it
 * tells what was written but not by whom; freezing (the informer's default in development) tells both.
 */
import { realClock } from '../clock.ts';
import type { Clock } from '../clock.ts';
import { isEntry, isRecord, metadataAtHand } from '../kube/meta-shape.ts';
import { onAbort } from '../on-abort.ts';
import { wantNumber } from '../options.ts';
import { MutationError } from './mutation-error.ts';
import { differences, snapshotOf } from './snapshot.ts';

export interface CacheMutationDetectorOptions {
  /** Whose objects they are, in messages: `pods`. */
  readonly name?: string;
  /** Called once for every object that was written to, and again when it is written to again. Default: throws. */
  readonly failureFunc?: (failure: MutationError) => void;
  /** Between two comparisons. Default 1000. */
  readonly periodMs?: number;
  /** Objects are kept for once to twice as long. Default 120,000. */
  readonly retainMs?: number;
  readonly clock?: Clock;
}

interface Watched {
  readonly key: string;
  readonly object: object;
  copy: unknown;
}

const PERIOD_MS = 1000;
const RETAIN_MS = 120_000;
const CHANGES_MAX = 10;

export class CacheMutationDetector {
  readonly #name: string;
  readonly #fail: (failure: MutationError) => void;
  readonly #periodMs: number;
  readonly #retainMs: number;
  readonly #clock: Clock;
  /** The two generations; the older is forgotten when the younger is as old as is kept. */
  #younger: Watched[] = [];
  #older: Watched[] = [];
  #rotatedMs: number | undefined;

  constructor(options: CacheMutationDetectorOptions = {}) {
    const { periodMs = PERIOD_MS, retainMs = RETAIN_MS } = options;
    wantNumber('periodMs', periodMs, 1, 2 ** 31 - 1);
    wantNumber('retainMs', retainMs, periodMs, Number.MAX_SAFE_INTEGER);
    this.#name = options.name ?? 'cache';
    this.#fail = options.failureFunc ?? raise;
    this.#periodMs = periodMs;
    this.#retainMs = retainMs;
    this.#clock = options.clock ?? realClock;
  }

  /** Objects that are watched now. */
  get size(): number {
    return this.#younger.length + this.#older.length;
  }

  /**
   * Remembers what the object is now: a tree, or an informer's entry. Tombstones and what is no object are
   * passed over.
   *
   * @param key for messages; default: from its metadata
   */
  addObject(object: unknown, key: string = keyOf(object)): void {
    if (!isRecord(object) || object['finalStateUnknown'] === true) return;
    if (isEntry(object)) {
      this.addObject(object['object'], key);
      return;
    }
    this.#younger.push({ key, object, copy: snapshotOf(object) });
  }

  /** Compares now and in every period until `signal` is aborted; then resolves. What `failureFunc` throws rejects. */
  run(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      let cancel = (): void => {};
      let unlisten = (): void => {};
      const end = (): void => {
        cancel();
        unlisten();
        resolve();
      };
      const turn = (): void => {
        try {
          this.#rotate();
          this.compareObjects();
          if (!signal.aborted) cancel = this.#clock.schedule(this.#periodMs, turn);
        } catch (error) {
          unlisten();
          reject(error);
        }
      };
      if (signal.aborted) {
        resolve();
        return;
      }
      unlisten = onAbort(signal, end);
      turn();
    });
  }

  /** Compares all objects with their copies, now. */
  compareObjects(): void {
    for (const generation of [this.#older, this.#younger]) {
      for (const watched of generation) {
        const changes = differences(watched.copy, watched.object, CHANGES_MAX);
        if (changes.length > 0) this.#report(watched, changes);
      }
    }
  }

  #report(watched: Watched, changes: readonly string[]): void {
    const { key, object } = watched;
    // A write is reported once, the next one again.
    watched.copy = snapshotOf(object);
    this.#fail(
      new MutationError(
        `${this.#name}: ${key} was written to, although it is shared with everybody else: ${changes.join('; ')}. ` +
          'Write to a copy',
        { key, changes },
      ),
    );
  }

  #rotate(): void {
    const now = this.#clock.now();
    this.#rotatedMs ??= now;
    if (now - this.#rotatedMs <= this.#retainMs) return;
    this.#older = this.#younger;
    this.#younger = [];
    this.#rotatedMs = now;
  }
}

function raise(failure: MutationError): never {
  throw failure;
}

function keyOf(object: unknown): string {
  const { namespace, name } = metadataAtHand(object) ?? {};
  if (typeof name !== 'string') return 'an object without a name';
  return typeof namespace === 'string' && namespace !== '' ? `${namespace}/${name}` : name;
}
