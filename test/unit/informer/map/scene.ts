/** Kinds, pods and recording handlers for the cache of kinds. */
import type { Borrowed, DeletedFinalStateUnknown } from '../../../../src/index.ts';
import type { ObjectLike } from '../../../../src/tools/apiserver/testing/index.ts';
import { soon } from '../factory/scene.ts';

export { CountingProxy, Scene, object, rejection, soon } from '../factory/scene.ts';
export { Gate, HeldHandler, isPending, turns } from '../scene.ts';

export const POD = { group: '', version: 'v1', kind: 'Pod' };
export const NODE = { group: '', version: 'v1', kind: 'Node' };
export const WIDGET = { group: 'example.com', version: 'v1', kind: 'Widget' };

/** A pod as far as these tests care. */
export function pod(name: string, namespace: string, spec: object = {}, more: object = {}): ObjectLike {
  return { metadata: { name, namespace, ...more }, spec };
}

/** `add a/x initial`, `update a/x`, `delete a/x`, `gone a/x`. */
export class Lines<T = unknown> {
  readonly lines: string[] = [];
  readonly shown: Borrowed<T>[] = [];
  readonly #waiters: { readonly count: number; readonly resolve: () => void }[] = [];

  onAdd(added: Borrowed<T>, isInInitialList: boolean): void {
    this.#write(`add ${added.key}${isInInitialList ? ' initial' : ''}`, added);
  }

  onUpdate(_previous: Borrowed<T>, current: Borrowed<T>): void {
    this.#write(`update ${current.key}`, current);
  }

  onDelete(deleted: Borrowed<T> | DeletedFinalStateUnknown<T>): void {
    this.#write(`${deleted.finalStateUnknown ? 'gone' : 'delete'} ${deleted.key}`);
  }

  /** Resolves when there are so many lines. */
  async count(count: number): Promise<void> {
    if (this.lines.length >= count) return;
    const signal = soon();
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error(`only ${this.lines.join(', ')}`)));
      this.#waiters.push({ count, resolve });
    });
  }

  #write(line: string, shown?: Borrowed<T>): void {
    this.lines.push(line);
    if (shown) this.shown.push(shown.retain());
    for (const { count, resolve } of this.#waiters) if (this.lines.length >= count) resolve();
  }
}
