/** A handler that records its calls, for most tests of informers. */
import assert from 'node:assert/strict';
import type { Borrowed, DeletedFinalStateUnknown, ResourceEventHandler } from '../../src/index.ts';

/** A call of a handler. */
export interface Call {
  readonly type: 'add' | 'update' | 'delete';
  readonly key: string;
  readonly version: string;
  readonly uid: string;
  /** Version of an update's old object. */
  readonly oldVersion: string;
  readonly oldUid: string;
  /** Whether an update's old and new object are the same entry. */
  readonly isSame: boolean;
  readonly isInInitialList: boolean;
  readonly isFinalStateUnknown: boolean;
}

const NOTHING = {
  oldVersion: '',
  oldUid: '',
  isSame: false,
  isInInitialList: false,
  isFinalStateUnknown: false,
};

/** A handler that records its calls; `act` may do more in each. */
export class RecordingHandler implements ResourceEventHandler<unknown> {
  readonly calls: Call[] = [];
  readonly #act: (call: Call) => unknown;
  readonly #waiters: Set<() => void> = new Set();

  constructor(act: (call: Call) => unknown = () => undefined) {
    this.#act = act;
  }

  onAdd(added: Borrowed<unknown>, isInInitialList: boolean): unknown {
    return this.#record('add', added, { isInInitialList });
  }

  onUpdate(previous: Borrowed<unknown>, current: Borrowed<unknown>): unknown {
    const old = { oldVersion: previous.resourceVersion, oldUid: previous.uid, isSame: previous === current };
    return this.#record('update', current, old);
  }

  onDelete(deleted: Borrowed<unknown> | DeletedFinalStateUnknown<unknown>): unknown {
    const { finalStateUnknown: isFinalStateUnknown } = deleted;
    return this.#record('delete', deleted.finalStateUnknown ? deleted.last : deleted, {
      isFinalStateUnknown,
    });
  }

  /** Calls as `add default/a@5` … */
  get lines(): string[] {
    return this.calls.map(({ type, key, version }) => `${type} ${key}@${version}`);
  }

  /** Calls as `add a`, `update b` …, without namespaces and versions. */
  get names(): string[] {
    return this.calls.map(({ type, key }) => `${type} ${key.replace(/^.*\//, '')}`);
  }

  /** As `names`, without updates of objects that a relist found unchanged. */
  get changedNames(): string[] {
    return this.names.filter((_, at) => this.calls[at]?.isSame !== true);
  }

  get versions(): string[] {
    return this.calls.map(({ version }) => version);
  }

  /** Resolves when the condition holds after a call. */
  until(isDone: () => boolean): Promise<void> {
    if (isDone()) return Promise.resolve();
    return new Promise((resolve) => {
      const look = (): void => {
        if (!isDone()) return;
        this.#waiters.delete(look);
        resolve();
      };
      this.#waiters.add(look);
    });
  }

  count(calls: number): Promise<void> {
    return this.until(() => this.calls.length >= calls);
  }

  /** Resolves after the first call for this version or a later one. */
  reached(version: number): Promise<void> {
    return this.until(() => Number(this.calls.at(-1)?.version) >= version);
  }

  /** Asserts that no object went back to an older version. */
  assertOnlyForward(): void {
    const versions = new Map<string, number>();
    for (const { key, version } of this.calls) {
      assert.ok((versions.get(key) ?? 0) <= Number(version), `${key} went back to ${version}`);
      versions.set(key, Number(version));
    }
  }

  /**
   * Returns the versions that a program holds after these calls, by key. Asserts that no call repeats or contradicts an
   * earlier one: each add is of an absent object, each update and deletion of the state that was received last.
   * A relist also updates what has not changed.
   */
  held(): ReadonlyMap<string, string> {
    const held = new Map<string, string>();
    for (const { type, key, version, oldVersion } of this.calls) {
      const before = held.get(key);
      const call = `${type} ${key}@${version} after ${before}`;
      if (type === 'add') assert.equal(before, undefined, call);
      else if (type === 'update') assert.ok(before === oldVersion, call);
      else assert.ok(before !== undefined && Number(before) <= Number(version), call);
      if (type === 'delete') held.delete(key);
      else held.set(key, version);
    }
    return held;
  }

  #record(type: Call['type'], entry: Borrowed<unknown>, more: Partial<Call>): unknown {
    const { key, resourceVersion: version, uid } = entry;
    const call: Call = { ...NOTHING, type, key, version, uid, ...more };
    this.calls.push(call);
    const result = this.#act(call);
    for (const look of this.#waiters) look();
    return result;
  }
}
