/**
 * Answers lists from the indexes of informers. The candidates are what the smallest posting list has, of all
 * equalities that an index can answer; only they are looked at. What the query asks for beyond is read from their
 * projected fields.
 */
import { KubeloomError } from '../errors.ts';
import type { SelectorLike } from '../informer/lister.ts';
import { parseFieldSelector } from '../kube/field-selector.ts';
import type { FieldRequirement } from '../kube/field-selector.ts';
import { LabelSelector, parseLabelSelector } from '../kube/label-selector.ts';
import type { KubeObject } from '../kube/wire.ts';
import { wantInteger } from '../options.ts';
import type { CachedObject } from '../store/entry.ts';
import { NAMESPACE_INDEX } from '../store/index-functions.ts';
import type { PlainIndexFunction } from '../store/index-functions.ts';
import type { InformerIndexer } from '../store/indexer.ts';
import { continueToken, keyOfToken } from './continue-token.ts';
import { fieldValues, indexNameOf } from './field-indexes.ts';
import type { Depth, FieldIndexes } from './field-indexes.ts';

/** What of a kind is wanted. */
export interface CacheListOptions {
  /** Default, and '': all that are followed. */
  readonly namespace?: string;
  readonly labelSelector?: SelectorLike;
  /** `spec.nodeName=n1,status.phase!=Failed`: indexed fields, `metadata.name` and `metadata.namespace`. */
  readonly fieldSelector?: string;
  /** Objects a page. Default, and 0: all at once. */
  readonly limit?: number;
  /** Of the page before. */
  readonly continue?: string;
}

export interface CacheList<T> {
  /** In the order of their keys, which is the order of servers. */
  readonly items: readonly CachedObject<T>[];
  /** For the next page; '' behind the last. */
  readonly continue: string;
  /** How many objects were looked at, and through which index: '' when there was none to use. */
  readonly examined: number;
  readonly index: string;
}

/** The options, understood. */
export interface Query {
  /** '' for all. */
  readonly namespace: string;
  readonly labels: LabelSelector;
  readonly fields: readonly FieldRequirement[];
  readonly limit: number;
  /** '' for the first page. */
  readonly after: string;
  /** Identifies the query between pages. */
  readonly text: string;
}

type Indexer = InformerIndexer<KubeObject>;

interface Source {
  readonly index: string;
  readonly count: number;
  keys(): readonly string[];
}

interface Found {
  readonly items: readonly CachedObject<KubeObject>[];
  readonly examined: number;
  readonly index: string;
}

const NAME = 'metadata.name';
const NAMESPACE = 'metadata.namespace';

/**
 * @param kind in messages and tokens
 * @throws ERR_KUBELOOM_SELECTOR, ERR_KUBELOOM_CONTINUE, ERR_KUBELOOM_FIELD_NOT_INDEXED
 */
export function queryOf(options: CacheListOptions, kind: string, indexes: FieldIndexes, depth: Depth): Query {
  const { namespace = '', labelSelector = '', fieldSelector = '', limit = 0 } = options;
  wantInteger('limit', limit, 0, Number.MAX_SAFE_INTEGER);
  const labels = labelSelector instanceof LabelSelector ? labelSelector : parseLabelSelector(labelSelector);
  const fields = parseFieldSelector(fieldSelector);
  for (const { field } of fields) {
    if (field === NAME || field === NAMESPACE || indexes.has(field, depth)) continue;
    const why = indexes.has(field, 'object')
      ? 'is not of metadata, and this is the metadata view'
      : `has no index: add one with indexField(). There are ${[NAME, NAMESPACE, ...indexes.names].join(', ')}`;
    throw new KubeloomError('ERR_KUBELOOM_FIELD_NOT_INDEXED', `field ${field} of ${kind} ${why}`);
  }
  const text = JSON.stringify([kind, depth, namespace, labels.requirements, fields]);
  const after =
    options.continue === undefined || options.continue === '' ? '' : keyOfToken(text, options.continue);
  const equal = fields.filter(({ field, operator }) => field === NAMESPACE && operator === '=');
  const only = namespace === '' ? (equal[0]?.value ?? '') : namespace;
  return { namespace: only, labels, fields, limit, after, text };
}

/** One page of what all these informers have together. */
export function runQuery(query: Query, indexers: readonly Indexer[]): CacheList<KubeObject> {
  const found = indexers.map((indexer) => findIn(indexer, query));
  const matching = found.flatMap(({ items }) => items).sort((a, b) => (a.key < b.key ? -1 : 1));
  const items = query.limit > 0 ? matching.slice(0, query.limit) : matching;
  const isMore = items.length < matching.length;
  return {
    items,
    continue: isMore ? continueToken(query.text, items.at(-1)?.key ?? '') : '',
    examined: found.reduce((sum, { examined }) => sum + examined, 0),
    index: [...new Set(found.map(({ index }) => index))].join(', '),
  };
}

function findIn(indexer: Indexer, query: Query): Found {
  const { namespace, labels, fields, after } = query;
  const source = cheapest(indexer, query);
  if (source === undefined) {
    const isNamespaced = namespace !== '';
    const examined = isNamespaced ? indexer.countByIndex(NAMESPACE_INDEX, namespace) : indexer.size;
    const selected = indexer.select(labels, namespace);
    const matches = matcherOf(indexer, fields);
    const items = selected.filter((entry) => entry.key > after && matches(entry));
    return { items, examined, index: isNamespaced ? NAMESPACE_INDEX : '' };
  }
  const matches = matcherOf(indexer, fields);
  const items: CachedObject<KubeObject>[] = [];
  let examined = 0;
  for (const key of source.keys()) {
    if (key <= after) continue;
    const entry = indexer.getByKey(key);
    if (!entry) continue;
    examined++;
    const isThere = namespace === '' || entry.namespace === namespace;
    if (isThere && labels.matches(entry.labels) && matches(entry)) items.push(entry);
  }
  return { items, examined, index: source.index };
}

/** Undefined when the namespace, or everything, is at least as small as any posting list. */
function cheapest(indexer: Indexer, { namespace, fields }: Query): Source | undefined {
  const all = namespace === '' ? indexer.size : indexer.countByIndex(NAMESPACE_INDEX, namespace);
  let best: Source | undefined;
  for (const { field, operator, value } of fields) {
    if (operator === '!=' || field === NAMESPACE) continue;
    const source = field === NAME ? byName(indexer, namespace, value) : byIndex(indexer, field, value);
    if (source.count < (best?.count ?? all)) best = source;
  }
  return best;
}

function byIndex(indexer: Indexer, field: string, value: string): Source {
  const index = indexNameOf(field);
  return {
    index: field,
    count: indexer.countByIndex(index, value),
    keys: () => indexer.indexKeys(index, value),
  };
}

/** One key a namespace. */
function byName(indexer: Indexer, namespace: string, name: string): Source {
  const namespaces = namespace === '' ? indexer.listIndexFuncValues(NAMESPACE_INDEX) : [namespace];
  const keys = namespaces.length === 0 ? [name] : namespaces.map((one) => `${one}/${name}`);
  return { index: NAME, count: keys.length, keys: () => keys };
}

function matcherOf(
  indexer: Indexer,
  fields: readonly FieldRequirement[],
): (entry: CachedObject<KubeObject>) => boolean {
  if (fields.length === 0) return () => true;
  const indexers = indexer.getIndexers();
  const tests = fields.map(({ field, operator, value }) => {
    const index = indexers[indexNameOf(field)] as PlainIndexFunction<KubeObject> | undefined;
    return (entry: CachedObject<KubeObject>): boolean => {
      const values =
        field === NAME
          ? [entry.name]
          : field === NAMESPACE
            ? [entry.namespace]
            : index && fieldValues(index, entry);
      return (values?.includes(value) ?? false) === (operator === '=');
    };
  });
  return (entry) => tests.every((test) => test(entry));
}
