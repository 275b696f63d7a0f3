/**
 * An object that is updated again and again by the load generator: each version is the bytes of the one before with
 * new digits for the resourceVersion and a new time stamp (an annotation of fixed width), found by offset.
 */

import type { ResourceDefinition } from './resources.ts';
import { StoredObject } from './stored-object.ts';

/** Microseconds since the epoch at which the update was due: what latency is measured against. */
export const STAMP_ANNOTATION = 'kubeloom.dev/due-at-us';
const STAMP_WIDTH = 16;

export class LoadTemplate {
  #last: StoredObject;
  #stamped: StoredObject;
  #stampStart: number;

  constructor(definition: ResourceDefinition, stored: StoredObject) {
    const object = stored.parse();
    const annotations = { ...object.metadata.annotations, [STAMP_ANNOTATION]: '0'.repeat(STAMP_WIDTH) };
    const metadata = { ...object.metadata, annotations };
    this.#last = stored;
    this.#stamped = StoredObject.encode(definition, { ...object, metadata }, stored.revision);
    const prefix = `${JSON.stringify(STAMP_ANNOTATION)}:"`;
    this.#stampStart = this.#stamped.bytes.indexOf(prefix, this.#stamped.metadataStart) + prefix.length;
  }

  /** False when somebody else has written the object since. */
  isCurrent(stored: StoredObject): boolean {
    return this.#last === stored;
  }

  next(revision: number, stampMicros: number): StoredObject {
    const before = this.#stamped;
    const next = before.withRevision(revision);
    if (this.#stampStart > before.revisionStart) this.#stampStart += next.bytes.length - before.bytes.length;
    next.bytes.write(String(stampMicros).padStart(STAMP_WIDTH, '0'), this.#stampStart, 'latin1');
    this.#stamped = next;
    this.#last = next;
    return next;
  }
}
