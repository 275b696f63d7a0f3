/**
 * Where the pages of a list, or the events of a streaming list, are kept until it is complete: in the
 * server's order, and as the server sent them. So the destination's transform sees every object once, in
 * `replace` (client-go's temporary store transforms as well, the destination for a second time).
 */
import { metaNamespaceKeyFunc } from '../cache/keys.ts';

export class TemporaryStore<T> {
  readonly #listed: T[] = [];
  readonly #streamed: Map<string, T> = new Map();

  /** Items of a list; their keys are the destination's business. */
  append(items: readonly T[]): void {
    for (const item of items) this.#listed.push(item);
  }

  /** @throws ERR_KUBELOOM_KEY when the object has no name */
  apply(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): void {
    const key = metaNamespaceKeyFunc(object);
    if (type === 'DELETED') this.#streamed.delete(key);
    else this.#streamed.set(key, object);
  }

  items(): T[] {
    return this.#listed.length > 0 ? this.#listed : [...this.#streamed.values()];
  }
}
