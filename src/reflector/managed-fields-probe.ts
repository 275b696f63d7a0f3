/**
 * Treatment of `drop=metadata.managedFields` in Accept headers by the server. No response names the treatment, and servers
 * without the parameter ignore it, so the first objects of each response are the evidence.
 */
import { findPath } from '../kube/json/read.ts';
import type { ManagedFieldsSupport } from '../shared/activity.ts';

/** Objects of a response that are searched, unless one has managedFields: an object can lack them. */
const PROBED_OBJECTS = 8;

export class ManagedFieldsProbe {
  readonly #onChange: (support: ManagedFieldsSupport) => void;
  #support: ManagedFieldsSupport | undefined;
  /** Objects of this response that are still searched. */
  #objects = 0;

  /** @param onChange called when the server proves to be another */
  constructor(onChange: (support: ManagedFieldsSupport) => void) {
    this.#onChange = onChange;
  }

  beginResponse(): void {
    this.#objects = PROBED_OBJECTS;
  }

  object(bytes: Buffer, start: number, end: number): void {
    if (this.#objects === 0) return;
    const isSent = findPath(bytes, start, end, 'metadata.managedFields') !== undefined;
    this.#objects = isSent ? 0 : this.#objects - 1;
    const support = isSent ? 'sent' : 'dropped';
    if (this.#support === support) return;
    this.#support = support;
    this.#onChange(support);
  }
}
