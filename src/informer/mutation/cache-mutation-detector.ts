/**
 * Finds writes to shared objects, as client-go's CacheMutationDetector. It copies every added object and compares the
 * object with the copy once a second, for two to four minutes. This costs much memory and time. It reports the changes
 * but not the code that made them; freezing (the informer's default in development) reports both.
 */
import { realClock } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { isEntry, isFinalStateUnknown, isRecord, metadataAtHand } from '../../kube/meta-shape.ts';
import { onAbort } from '../../base/on-abort.ts';
import { invalidOption, checkNumber } from '../../base/option-checks.ts';
import { differences, snapshotOf } from './snapshot.ts';
import { KubeloomError } from '../../base/errors.ts';
import { requiredSignal } from '../../base/signal-options.ts';
import type { SignalOptions } from '../../base/signal-options.ts';

/** Options of a mutation detector. */
export interface CacheMutationDetectorOptions {
  /** Name of the objects in messages: `pods`. Default `cache`. */
  readonly name?: string;
  /** Called once for each write that a comparison finds. Default: throws. */
  readonly failureFunc?: (failure: MutationError) => void;
  /** Time between two comparisons. Default 1000. */
  readonly periodMs?: number;
  /** Time for which an object is watched, at least; at most twice this time. Default 120,000. */
  readonly retainMs?: number;
  /** Clock of the periods. Default: the real clock. */
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

/** Finds objects of a cache that the program changed: it compares them with copies, once a period. */
export class CacheMutationDetector {
  readonly #name: string;
  readonly #fail: (failure: MutationError) => void;
  readonly #periodMs: number;
  readonly #retainMs: number;
  readonly #clock: Clock;
  /** Two generations. The older is dropped when the younger reaches `retainMs`. */
  #younger: Watched[] = [];
  #older: Watched[] = [];
  #rotatedMs: number | undefined;

  constructor(options: CacheMutationDetectorOptions = {}) {
    if (typeof options !== 'object' || (options as unknown) === null)
      invalidOption('options of a mutation detector', options, 'an object');
    const { periodMs = PERIOD_MS, retainMs = RETAIN_MS } = options;
    checkNumber('periodMs', periodMs, 1, 2 ** 31 - 1);
    checkNumber('retainMs', retainMs, periodMs, Number.MAX_SAFE_INTEGER);
    this.#name = options.name ?? 'cache';
    this.#fail = options.failureFunc ?? raise;
    this.#periodMs = periodMs;
    this.#retainMs = retainMs;
    this.#clock = options.clock ?? realClock;
  }

  /** Number of watched objects. */
  get size(): number {
    return this.#younger.length + this.#older.length;
  }

  /**
   * Copies an object (a tree, or an informer's entry) for later comparisons. Ignores tombstones and other values.
   *
   * @param key for messages; default: the key from the object's metadata
   */
  addObject(object: unknown, key: string = keyOf(object)): void {
    if (!isRecord(object) || isFinalStateUnknown(object)) return;
    if (isEntry(object)) {
      this.addObject(object['object'], key);
      return;
    }
    this.#younger.push({ key, object, copy: snapshotOf(object) });
  }

  /**
   * Compares now and once a period until the signal is aborted, then resolves. Rejects with the error that `failureFunc`
   * throws.
   */
  async run(options: Required<SignalOptions>): Promise<void> {
    const signal = requiredSignal('run()', options);
    await new Promise<void>((resolve, reject) => {
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

  /** Compares all objects with their copies. */
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
    // With the new copy, each write is reported once.
    watched.copy = snapshotOf(object);
    this.#fail(
      new MutationError(
        `${this.#name}: code wrote to the shared object ${key}: ${changes.join('; ')}. Write to a copy`,
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

export interface MutationDetails {
  /** Key of the object. */
  readonly key: string;
  /** Changes such as `spec.replicas: 1 -> 2`; empty if the write threw. */
  readonly changes?: readonly string[];
  /** TypeError of the write. */
  readonly cause?: TypeError;
}

/** Error for a write to an object that handlers and listers share. */
export class MutationError extends KubeloomError {
  /** Key of the object. */
  readonly key: string;
  /** Changes such as `spec.replicas: 1 -> 2`; empty if the write threw. */
  readonly changes: readonly string[];

  /** Takes the stack of `cause`, which shows the line that wrote. */
  constructor(message: string, details: MutationDetails) {
    const { key, changes = [], cause } = Object(details) as MutationDetails;
    super('ERR_KUBELOOM_MUTATION', message, cause ? { cause } : {});
    this.key = key;
    this.changes = changes;
    if (cause?.stack) this.stack = `${this.name}: ${this.message}\n${framesOf(cause)}`;
  }
}

/** Messages of V8, and of JavaScriptCore in Bun, for writes to frozen objects and to properties with only a getter. */
const REFUSED_WRITE =
  /^(?:Cannot (?:assign to read only property|add property|delete property|define property|redefine property|set property .* which has only a getter)|Attempted to assign to readonly property|Attempting to (?:define property|change value)|Unable to delete property|Array length is not writable)/;

/**
 * Returns a MutationError if a handler threw because it wrote to a frozen object; otherwise undefined. The object,
 * metadata, labels and fields of an entry are frozen.
 */
export function refusedWrite(thrown: unknown, key: string): MutationError | undefined {
  if (!(thrown instanceof TypeError) || !REFUSED_WRITE.test(thrown.message)) return undefined;
  return new MutationError(
    `${key}: a handler wrote to a shared object, or to a frozen object of its own: ${thrown.message}. ` +
      'Write to entry.copy()',
    { key, cause: thrown },
  );
}

function framesOf({ stack = '' }: Error): string {
  return stack.slice(Math.max(0, stack.search(/^ +at /m)));
}
