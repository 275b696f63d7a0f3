/**
 * An object that the load generator updates many times. All versions share the same bytes. They differ in the
 * resourceVersion and in a time stamp, an annotation of fixed width that is overwritten while the bytes are copied.
 */

import type { ResourceDefinition } from '../store/resources.ts';
import { StoredObject } from '../store/stored-object.ts';
import type { Content } from '../store/stored-object.ts';

/** Microseconds since the epoch at which the update was due. Latency is measured from it. */
export const STAMP_ANNOTATION = 'kubeloom.dev/due-at-us';
const STAMP_WIDTH = 16;
const EMPTY_STAMP: string = '0'.repeat(STAMP_WIDTH);
const STAMP_PREFIX = `${JSON.stringify(STAMP_ANNOTATION)}:"`;

/** The initial annotation: objects with it need no new bytes for their first update. */
export const STAMP: Readonly<Record<string, string>> = { [STAMP_ANNOTATION]: EMPTY_STAMP };

/** @internal */
export class LoadTemplate {
  readonly #content: Content;
  #last: StoredObject;

  constructor(definition: ResourceDefinition, stored: StoredObject) {
    this.#last = stored;
    this.#content = stampable(stored.content) ?? stampable(withStamp(definition, stored)) ?? stored.content;
  }

  /** False if another writer changed the object since. */
  isCurrent(stored: StoredObject): boolean {
    return this.#last === stored;
  }

  next(revision: number, stampMicros: number): StoredObject {
    this.#last = new StoredObject(this.#content, revision, String(stampMicros).padStart(STAMP_WIDTH, '0'));
    return this.#last;
  }
}

/** Returns the content with the position of the stamp, if the content contains a stamp. */
function stampable(content: Content): Content | undefined {
  const prefixAt = content.bytes.indexOf(STAMP_PREFIX, content.metadataStart);
  if (prefixAt < 0 || prefixAt > content.metadataEnd) return undefined;
  return { ...content, stampAt: prefixAt + STAMP_PREFIX.length };
}

function withStamp(definition: ResourceDefinition, stored: StoredObject): Content {
  const object = stored.parse();
  const metadata = { ...object.metadata, annotations: { ...object.metadata.annotations, ...STAMP } };
  return StoredObject.encode(definition, { ...object, metadata }, stored.revision).content;
}
