/**
 * The views of a cache of kinds. `structured` and `unstructured` differ only in their types: both show the object as the
 * server sent it. `metadata` shows only metadata, even if whole objects are stored.
 */
import type { ResourceRef } from '../../kube/resource.ts';
import type { KubeObject } from '../../kube/wire.ts';
import { refuse } from '../../base/option-checks.ts';
import type { Borrowed, CachedObject } from '../../replica/store/entry.ts';
import type { InformerView } from '../options.ts';
import { metadataEntry } from './metadata-entry.ts';
import type { CacheList } from './query.ts';

export type View = 'structured' | 'unstructured' | 'metadata';

/** Returns the informer's view for a view of the cache. @throws ERR_KUBELOOM_OPTION for an unknown view */
export function informerViewOf(view: View): InformerView {
  if (!['structured', 'unstructured', 'metadata'].includes(view)) {
    refuse('view', view, "'structured', 'unstructured' or 'metadata'");
  }
  return view === 'metadata' ? 'metadata' : 'object';
}

export function show(view: View, entry: Borrowed<KubeObject>, resource: ResourceRef): Borrowed<unknown> {
  return view === 'metadata' ? metadataEntry(entry, resource) : entry;
}

export function showList<T>(view: View, list: CacheList<KubeObject>, resource: ResourceRef): CacheList<T> {
  if (view !== 'metadata') return list as unknown as CacheList<T>;
  return { ...list, items: list.items.map((entry) => show(view, entry, resource) as CachedObject<T>) };
}
