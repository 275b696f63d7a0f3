/**
 * Links of the keys of work queues to the spans that added them. A key keeps links from the first add until the end
 * of the next work on it; links that are added during the work belong to the work after it.
 */
import type { Link, SpanContext } from '@opentelemetry/api';

/** Links of a key. An add beyond it is not linked. */
export const LINKS_MAX = 32;

const NO_LINKS: readonly Link[] = [];

interface QueueLinks {
  readonly waiting: Map<unknown, Link[]>;
  readonly inWork: Map<unknown, Link[]>;
}

export class KeyLinks {
  /** Links end with their queue at the latest, so that keys that are never worked on do not stay. */
  readonly #queues: WeakMap<object, QueueLinks> = new WeakMap();

  /** Returns false when the key accepts no more links. */
  hasRoom(queue: object, key: unknown): boolean {
    return (this.#queues.get(queue)?.waiting.get(key)?.length ?? 0) < LINKS_MAX;
  }

  /** Links the key to a span, once. */
  add(queue: object, key: unknown, context: SpanContext): void {
    let ofQueue = this.#queues.get(queue);
    if (!ofQueue) this.#queues.set(queue, (ofQueue = { waiting: new Map(), inWork: new Map() }));
    const links = ofQueue.waiting.get(key);
    if (!links) ofQueue.waiting.set(key, [{ context }]);
    else if (links.length < LINKS_MAX && !links.some((link) => link.context.spanId === context.spanId))
      links.push({ context });
  }

  /** The work on the key begins. */
  take(queue: object, key: unknown): void {
    const ofQueue = this.#queues.get(queue);
    const links = ofQueue?.waiting.get(key);
    if (!ofQueue || !links) return;
    ofQueue.waiting.delete(key);
    ofQueue.inWork.set(key, links);
  }

  /** Returns the links of the key in work. */
  inWork(queue: object, key: unknown): readonly Link[] {
    return this.#queues.get(queue)?.inWork.get(key) ?? NO_LINKS;
  }

  /** The work on the key ended. */
  done(queue: object, key: unknown): void {
    this.#queues.get(queue)?.inWork.delete(key);
  }
}
