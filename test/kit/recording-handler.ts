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

  #record(type: Call['type'], entry: Borrowed<unknown>, more: Partial<Call>): unknown {
    const { key, resourceVersion: version, uid } = entry;
    const call: Call = { ...NOTHING, type, key, version, uid, ...more };
    this.calls.push(call);
    const result = this.#act(call);
    for (const look of this.#waiters) look();
    return result;
  }
}
