/**
 * The parts of a control plane that follow writes: garbage collection, deletion of namespaces, custom resources. Each
 * loop notes the work that a write causes, and does it in the same turn of the event loop, before any other request is
 * read. So a test need not wait: when an answer arrives, the consequences are already in the log.
 */

import type { Collection } from '../store/event-log.ts';
import type { ChangeType } from '../store/history.ts';
import type { KubeObject } from '../store/json.ts';

export interface StoredChange {
  readonly type: ChangeType;
  readonly collection: Collection;
  /** The object after the change; for DELETED the last state. */
  readonly object: KubeObject;
  /** False for the control API, whose objects may have owners that do not exist. */
  readonly checksOwners: boolean;
}

export interface ControlLoop {
  /** Notes a write, without writing. */
  saw(change: StoredChange): void;
  /** Does the noted work. Returns false if there was none. */
  work(): boolean;
}

export class ControlLoops {
  readonly #controlLoops: ControlLoop[] = [];
  #isScheduled = false;

  add(controlLoop: ControlLoop): void {
    this.#controlLoops.push(controlLoop);
  }

  saw(change: StoredChange): void {
    for (const controlLoop of this.#controlLoops) controlLoop.saw(change);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => this.#work());
  }

  /** Works until no control loop has work left: the work of a loop is often a write that another loop follows. */
  #work(): void {
    try {
      let isBusy = true;
      while (isBusy) {
        isBusy = false;
        for (const controlLoop of this.#controlLoops) if (controlLoop.work()) isBusy = true;
      }
    } finally {
      this.#isScheduled = false;
    }
  }
}
