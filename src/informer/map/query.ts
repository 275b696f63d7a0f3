/**
 * Runs lists on the indexes of informers. Of all equalities with an index, the equality with the fewest objects gives
 * the candidates, and only these are examined. All other requirements are checked on the candidates' extracted fields.
 */
import { KubeloomError } from '../../base/errors.ts';
import { selectorOf } from '../lister.ts';
import type { SelectorLike } from '../lister.ts';
import { parseFieldSelector } from '../../kube/field-selector.ts';
import type { FieldRequirement } from '../../kube/field-selector.ts';
import type { LabelSelector } from '../../kube/label-selector.ts';
import type { KubeObject } from '../../kube/wire.ts';
import { anything, integer, text, checkOptions } from '../../base/option-checks.ts';
import type { OptionChecks } from '../../base/option-checks.ts';
import { parseJson } from '../../base/parse-json.ts';
import type { CachedObject } from '../../replica/store/cached-object.ts';
import { NAMESPACE_INDEX } from '../../replica/store/index-functions.ts';
import type { PlainIndexFunction } from '../../replica/store/index-functions.ts';
import type { InformerIndexer } from '../../replica/store/indexer.ts';
import { fieldValues, indexNameOf } from './field-indexes.ts';
import type { FieldIndexes } from './field-indexes.ts';
import type { InformerView } from '../informer-options.ts';
import type { IsInPart } from './part.ts';
import { createHash } from 'node:crypto';

/** Options of a list of a cache. */
export interface CacheListOptions {
  /** Default, and '': all namespaces of the cache. */
  readonly namespace?: string;
  /** `app=web,tier in (a,b)`, or a parsed selector. Default: all objects. */
  readonly labelSelector?: SelectorLike;
  /** Indexed fields, `metadata.name` and `metadata.namespace`: `spec.nodeName=n1,status.phase!=Failed`. */
  readonly fieldSelector?: string;
  /** Objects in a page. Default, and 0: all objects in a single page. */
  readonly limit?: number;
  /** Continue token of the previous page. */
  readonly continue?: string;
}

/** Objects of a cache, with the version of the cache. */
export interface CacheList<T> {
  /** Objects in the order of their keys, which is the order of servers. */
  readonly items: readonly CachedObject<T>[];
  /** Continue token of the next page; '' on the last page. */
  readonly continue: string;
  /** Number of examined objects. */
  readonly examined: number;
  /** Names of the indexes that gave the candidates, separated by commas; '' if all objects were examined. */
  readonly index: string;
}

/** @internal */
export interface Query {
  /** '' for all. */
  readonly namespace: string;
  readonly labels: LabelSelector;
  readonly fields: readonly FieldRequirement[];
  readonly limit: number;
  /** Last key of the previous page; '' for the first page. */
  readonly after: string;
  /** Identity of the query, equal for all pages. */
  readonly text: string;
}

type Indexer = InformerIndexer<KubeObject>;

interface Source {
  readonly index: string;
  readonly count: number;
  keys(): readonly string[];
}

type Found = Omit<CacheList<KubeObject>, 'continue'>;

/** Checks of the options. The selectors are checked when they are parsed. */
const LIST_CHECKS: OptionChecks<CacheListOptions & { readonly view: string }> = {
  namespace: text,
  labelSelector: anything,
  fieldSelector: anything,
  limit: integer(0),
  continue: text,
  view: text,
};

const NAME = 'metadata.name';
const NAMESPACE = 'metadata.namespace';

/**
 * Parses the options of a list.
 *
 * @param kind name in messages and tokens
 * @throws ERR_KUBELOOM_SELECTOR, ERR_KUBELOOM_CONTINUE, ERR_KUBELOOM_NO_INDEX
 * @internal
 */
export function queryOf(
  options: CacheListOptions,
  kind: string,
  indexes: FieldIndexes,
  view: InformerView,
): Query {
  checkOptions('options of a list', options, LIST_CHECKS);
  const { namespace = '', labelSelector = '', fieldSelector = '', limit = 0 } = options;
  const labels = selectorOf(labelSelector);
  const fields = parseFieldSelector(fieldSelector);
  for (const { field } of fields) {
    if (field === NAME || field === NAMESPACE || indexes.has(field, view)) continue;
    const why = indexes.has(field, 'object')
      ? 'is not in metadata, and this is the metadata view: use another view'
      : `has no index: add one with indexField(). Indexed are ${[NAME, NAMESPACE, ...indexes.names].join(', ')}`;
    throw new KubeloomError('ERR_KUBELOOM_NO_INDEX', `field ${field} of ${kind} ${why}`);
  }
  const identity = JSON.stringify([kind, view, namespace, labels.requirements, fields]);
  const after =
    options.continue === undefined || options.continue === '' ? '' : keyOfToken(identity, options.continue);
  const equal = fields.filter(({ field, operator }) => field === NAMESPACE && operator === '=');
  const only = namespace === '' ? (equal[0]?.value ?? '') : namespace;
  return { namespace: only, labels, fields, limit, after, text: identity };
}

/** @internal Returns a page of the objects of all these informers. */
export function runQuery(
  query: Query,
  indexers: readonly Indexer[],
  isIn: IsInPart = () => true,
): CacheList<KubeObject> {
  const found = indexers.map((indexer) => findIn(indexer, query, isIn));
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

function findIn(indexer: Indexer, query: Query, isIn: IsInPart): Found {
  const { namespace, labels, fields, after } = query;
  const source = cheapest(indexer, query);
  const hasFields = matcherOf(indexer, fields);
  const matches = (entry: CachedObject<KubeObject>): boolean => isIn(entry) && hasFields(entry);
  if (source === undefined) {
    const isNamespaced = namespace !== '';
    const examined = isNamespaced ? indexer.countByIndex(NAMESPACE_INDEX, namespace) : indexer.size;
    const selected = indexer.select(labels, namespace);
    const items = selected.filter((entry) => entry.key > after && matches(entry));
    return { items, examined, index: isNamespaced ? NAMESPACE_INDEX : '' };
  }
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

/** Returns the index with the fewest candidates; undefined if the namespace, or the whole cache, contains no more. */
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
  const count = indexer.countByIndex(index, value);
  return { index: field, count, keys: () => indexer.indexKeys(index, value) };
}

/** Returns the source for `metadata.name`, with a single key in each namespace. */
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
      if (field === NAME) return (entry.name === value) === (operator === '=');
      if (field === NAMESPACE) return (entry.namespace === value) === (operator === '=');
      return (index !== undefined && fieldValues(index, entry).includes(value)) === (operator === '=');
    };
  });
  return (entry) => tests.every((test) => test(entry));
}

/**
 * Returns a continue token: a digest of the query, which must be equal for all pages, and the last key of a page. Lists
 * are in the order of keys, so the next page begins after that key even if objects were added or deleted since.
 */
function continueToken(query: string, lastKey: string): string {
  return Buffer.from(JSON.stringify([digest(query), lastKey])).toString('base64url');
}

/** Returns the key after which the next page begins. @throws ERR_KUBELOOM_CONTINUE */
function keyOfToken(query: string, token: string): string {
  const [ofQuery, key] = parsed(token);
  if (typeof ofQuery !== 'string' || typeof key !== 'string') {
    throw new KubeloomError(
      'ERR_KUBELOOM_CONTINUE',
      `${JSON.stringify(token)} is not a continue token of this cache: pass \`continue\` of the previous page`,
    );
  }
  if (ofQuery === digest(query)) return key;
  throw new KubeloomError(
    'ERR_KUBELOOM_CONTINUE',
    'the continue token is of another list: keep kind, view, namespace and selectors the same for all pages',
  );
}

function parsed(token: string): readonly unknown[] {
  const value = parseJson(Buffer.from(token, 'base64url').toString());
  return Array.isArray(value) ? value : [];
}

function digest(query: string): string {
  return createHash('sha256').update(query).digest('base64url').slice(0, 16);
}
