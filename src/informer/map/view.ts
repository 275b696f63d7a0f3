/** The view `metadata` of a cache of kinds: only metadata, even if whole objects are stored. */
import { Mark, mark } from '../../kube/meta-shape.ts';
import type { MetadataOf } from '../../kube/meta-shape.ts';
import { apiVersionOf } from '../../kube/resource.ts';
import type { ResourceRef } from '../../kube/resource.ts';
import type { KubeObject, PartialObjectMetadata } from '../../kube/wire.ts';
import { jsonText } from '../../base/json-text.ts';
import { invalidOption } from '../../base/option-checks.ts';
import { parseJson } from '../../base/parse-json.ts';
import type { Borrowed, CachedObject, Mutable } from '../../replica/store/cached-object.ts';
import type { InformerView } from '../informer-options.ts';
import type { Labels } from '../../replica/store/extracted-fields.ts';

/** @throws ERR_KUBELOOM_OPTION for an unknown view */
export function checkView(view: InformerView): void {
  if (view !== 'object' && view !== 'metadata') invalidOption('view', view, "'object' or 'metadata'");
}

/** Metadata entry of each entry, so that an entry always gives the same object. */
const SHOWN: WeakMap<object, MetadataEntry> = new WeakMap();

/** @internal */
export function show(
  view: InformerView,
  entry: Borrowed<KubeObject>,
  resource: ResourceRef,
): CachedObject<unknown> {
  if (view !== 'metadata') return entry as CachedObject<unknown>;
  const shown = SHOWN.get(entry) ?? new MetadataEntry(entry, resource);
  SHOWN.set(entry, shown);
  return shown;
}

/** Members that a metadata entry reads from the stored entry at every access: their getters check the borrow. */
const READ = [
  ...(['key', 'namespace', 'name', 'uid', 'resourceVersion', 'generation', 'deletionTimestamp'] as const),
  ...(['controllerUid', 'labels', 'fields', 'metadata'] as const),
];

/**
 * Entry with only kind, apiVersion and `metadata` without managedFields, even if a whole object is stored. It reads the
 * stored entry and keeps no second copy.
 */
class MetadataEntry implements CachedObject<PartialObjectMetadata> {
  static {
    mark(this.prototype, Mark.Entry);
    for (const name of READ) {
      Object.defineProperty(this.prototype, name, {
        get(this: MetadataEntry) {
          return this.#entry[name];
        },
      });
    }
  }

  declare readonly key: string;
  declare readonly namespace: string;
  declare readonly name: string;
  declare readonly uid: string;
  declare readonly resourceVersion: string;
  declare readonly generation: number | undefined;
  declare readonly deletionTimestamp: string | undefined;
  declare readonly controllerUid: string | undefined;
  declare readonly labels: Labels;
  declare readonly fields: Readonly<Record<string, unknown>>;
  declare readonly metadata: MetadataOf<PartialObjectMetadata>;
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

  get object(): PartialObjectMetadata {
    // Reads the entry every time, because the getter throws after the borrow ended.
    const { metadata } = this;
    if (this.#object?.metadata === metadata) return this.#object;
    const { kind } = this.#resource;
    this.#object = Object.freeze({ kind, apiVersion: apiVersionOf(this.#resource), metadata });
    return this.#object;
  }

  get spec(): undefined {
    return undefined;
  }

  get status(): undefined {
    return undefined;
  }

  member<Name extends keyof PartialObjectMetadata>(name: Name): PartialObjectMetadata[Name];
  member(name: string): unknown;
  member(name: string): unknown {
    const { object } = this;
    return Object.hasOwn(object, name) ? Reflect.get(object, name) : undefined;
  }

  copy(): Mutable<PartialObjectMetadata> {
    return parseJson(jsonText(this.object)) as Mutable<PartialObjectMetadata>;
  }

  bytes(): Buffer {
    const json = Buffer.from(jsonText(this.object));
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
