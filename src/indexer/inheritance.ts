/**
 * Messages to the successor of a shard before it may begin: the keys of each informer that its predecessor had, then
 * the position to resume at. It takes them in their order. An informer whose keys are next may still be loading its
 * modules; the successor waits for no other informer.
 */
import type { ToShard } from '../shared/protocol.ts';

export type Seed = Extract<ToShard, { type: 'seed' }>;
export type Resume = Extract<ToShard, { type: 'resume' }>;

/** The next message, or the reason why its informer cannot be attached. */
export type InheritanceStep = Seed | Resume | { readonly type: 'failed'; readonly cause: unknown };

export class Inheritance {
  readonly #messages: (Seed | Resume)[] = [];
  readonly #failures: Map<number, unknown> = new Map();

  add(message: Seed | Resume): void {
    this.#messages.push(message);
  }

  /** Notes that an informer cannot be attached; this matters only if the predecessor had it. */
  failed(informer: number, cause: unknown): void {
    this.#failures.set(informer, cause);
  }

  /** Returns the next step until `taken` is called; undefined while the shard must wait for it. */
  next(attached: ReadonlyMap<number, unknown>): InheritanceStep | undefined {
    const [message] = this.#messages;
    if (message?.type !== 'seed' || attached.has(message.informer)) return message;
    if (!this.#failures.has(message.informer)) return undefined;
    return { type: 'failed', cause: this.#failures.get(message.informer) };
  }

  taken(): void {
    this.#messages.shift();
  }
}
