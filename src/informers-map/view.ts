/**
 * How a kind is looked at. Structured and unstructured differ in their types only: both are the object as it was
 * sent. Metadata shows no more than metadata, whatever is stored.
 */
import type { ResourceRef } from '../kube/resource.ts';
import type { KubeObject } from '../kube/wire.ts';
import { refuse } from '../options.ts';
import type { Borrowed, CachedObject } from '../store/entry.ts';
import type { Depth } from './field-indexes.ts';
import { metadataEntry } from './metadata-entry.ts';
import type { CacheList } from './query.ts';

export type View = 'structured' | 'unstructured' | 'metadata';

/** @throws ERR_KUBELOOM_OPTION for what is no view */
export function depthOf(view: View): Depth {
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
