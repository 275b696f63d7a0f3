/** A handler that writes down what it is told in the words of the table, and can be held up. */
import type { MaybeTombstone } from '../../src/queue/delta.ts';
import { textOf } from '../queue/notation.ts';
import type { TestObject } from '../queue/notation.ts';

export class TellTale {
  readonly told: string[] = [];
  #gate: { readonly opened: Promise<void>; readonly open: () => void } | undefined;

  onAdd(object: TestObject, isInInitialList: boolean): Promise<void> {
    return this.#tell(`add ${textOf(object)}${isInInitialList ? ' initial' : ''}`);
  }

  onUpdate(old: TestObject, object: TestObject): Promise<void> {
    return this.#tell(`update ${textOf(old)} ${textOf(object)}`);
  }

  onDelete(object: MaybeTombstone<TestObject>): Promise<void> {
    return this.tellDeletion(textOf(object));
  }

  /** @param text `a@2`, or `a@2?` when only the last known state is there */
  tellDeletion(text: string): Promise<void> {
    return this.#tell(`delete ${text}`);
  }

  /** The next call does not return. */
  hold(): void {
    let open: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    this.#gate = { opened, open };
  }

  letGo(): void {
    this.#gate?.open();
    this.#gate = undefined;
  }

  /** Written down when the call begins: the order is the same. */
  async #tell(text: string): Promise<void> {
    this.told.push(text);
    await this.#gate?.opened;
  }
}
