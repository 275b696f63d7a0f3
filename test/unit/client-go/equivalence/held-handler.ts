/** A handler that records its calls in the notation of the table, and can be held. */
import type { MaybeTombstone } from '../../../../src/client-go/queue/delta.ts';
import { textOf } from '../queue/notation.ts';
import type { TestObject } from '../queue/notation.ts';

export class HeldHandler {
  readonly calls: string[] = [];
  #gate: { readonly opened: Promise<void>; readonly open: () => void } | undefined;

  onAdd(object: TestObject, isInInitialList: boolean): Promise<void> {
    return this.#record(`add ${textOf(object)}${isInInitialList ? ' initial' : ''}`);
  }

  onUpdate(old: TestObject, object: TestObject): Promise<void> {
    return this.#record(`update ${textOf(old)} ${textOf(object)}`);
  }

  onDelete(object: MaybeTombstone<TestObject>): Promise<void> {
    return this.recordDeletion(textOf(object));
  }

  /** @param text `a@2`, or `a@2?` when only the last known state is present */
  recordDeletion(text: string): Promise<void> {
    return this.#record(`delete ${text}`);
  }

  /** Holds the next call, which then does not return. */
  hold(): void {
    let open: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    this.#gate = { opened, open };
  }

  letGo(): void {
    this.#gate?.open();
    this.#gate = undefined;
  }

  /** Recorded when the call begins: the order is the same. */
  async #record(text: string): Promise<void> {
    this.calls.push(text);
    await this.#gate?.opened;
  }
}
