/**
 * Entries as the metadata view shows them. The object has only kind, apiVersion and `metadata` without managedFields,
 * even if a whole object is stored. It reads the stored entry and keeps no second copy.
 */
import { apiVersionOf } from '../../kube/resource.ts';
import type { ResourceRef } from '../../kube/resource.ts';
import type { KubeObject, PartialObjectMetadata } from '../../kube/wire.ts';
import type { Borrowed, CachedObject, MetadataOf, Mutable } from '../../replica/store/entry.ts';
import type { Labels } from '../../replica/store/projection.ts';

/** Metadata entry of each entry, so that the same entry always gives the same object. */
const SHOWN: WeakMap<object, MetadataEntry> = new WeakMap();

export function metadataEntry(entry: Borrowed<KubeObject>, resource: ResourceRef): MetadataEntry {
  const known = SHOWN.get(entry);
  if (known) return known;
  const shown = new MetadataEntry(entry, resource);
  SHOWN.set(entry, shown);
  return shown;
}

export class MetadataEntry implements CachedObject<PartialObjectMetadata> {
  readonly #entry: Borrowed<KubeObject>;
  readonly #resource: ResourceRef;
  #object: PartialObjectMetadata | undefined;

  constructor(entry: Borrowed<KubeObject>, resource: ResourceRef) {
    this.#entry = entry;
    this.#resource = resource;
  }

  get finalStateUnknown(): false {
    return false;
  }

  get kept(): true {
    return true;
  }

  get key(): string {
    return this.#entry.key;
  }

  get namespace(): string {
    return this.#entry.namespace;
  }

  get name(): string {
    return this.#entry.name;
  }

  get uid(): string {
    return this.#entry.uid;
  }

  get resourceVersion(): string {
    return this.#entry.resourceVersion;
  }

  get generation(): number | undefined {
    return this.#entry.generation;
  }

  get deletionTimestamp(): string | undefined {
    return this.#entry.deletionTimestamp;
  }

  get controllerUid(): string | undefined {
    return this.#entry.controllerUid;
  }

  get labels(): Labels {
    return this.#entry.labels;
  }

  get fields(): Readonly<Record<string, unknown>> {
    return this.#entry.fields;
  }

  get metadata(): MetadataOf<PartialObjectMetadata> {
    return this.#entry.metadata;
  }

  get object(): PartialObjectMetadata {
    // Reads the entry every time: its getter throws when the borrow has ended.
    const { metadata } = this;
    if (this.#object?.metadata === metadata) return this.#object;
    const { kind } = this.#resource;
    this.#object = Object.freeze({ kind, apiVersion: apiVersionOf(this.#resource), metadata });
    return this.#object;
  }

  copy(): Mutable<PartialObjectMetadata> {
    return structuredClone(this.object) as Mutable<PartialObjectMetadata>;
  }

  bytes(): Buffer {
    const json = Buffer.from(JSON.stringify(this.object));
    // A buffer outside Node's pool can be transferred to another thread.
    const own = Buffer.allocUnsafeSlow(json.length);
    json.copy(own);
    return own;
  }

  retain(): CachedObject<PartialObjectMetadata> {
    this.#entry.retain();
    return this;
  }

  toJSON(): PartialObjectMetadata {
    return this.object;
  }
}
