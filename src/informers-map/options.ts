/**
 * What a cache can be told, for all kinds and kind by kind, and what follows from it for one kind in one namespace.
 * As in controller-runtime `undefined` inherits, and an empty value ends inheritance.
 */
import { KubeloomError } from '../errors.ts';
import { groupResource } from '../factory/resource-wish.ts';
import { resolveInformerOptions } from '../informer/options.ts';
import type { InformerOptions } from '../informer/options.ts';
import type { Transform } from '../informer/transform.ts';
import { parseFieldSelector } from '../kube/field-selector.ts';
import { parseLabelSelector } from '../kube/label-selector.ts';
import type { ResourceRef } from '../kube/resource.ts';
import { builtInResources } from '../kube/resources.ts';
import type { KindName, ResourceName, RestMapper } from '../kube/rest-mapper.ts';
import type { KubeObject } from '../kube/wire.ts';
import { refuse, resolveThreadsOptions } from '../options.ts';
import { InformerThreads } from '../threads/informer-threads.ts';

/** What is followed. In each place `undefined` takes the value of the next: see `KindOptions`. */
export interface ScopeOptions {
  /** '' selects everything. */
  readonly labelSelector?: string;
  /** The server's own: '' selects everything. */
  readonly fieldSelector?: string;
  /** null is none. A kind that is only followed as metadata has that transformed. */
  readonly transform?: Transform<KubeObject> | null;
}

/** Names, or names with options of their own. Empty: all namespaces. */
export type NamespaceSet = readonly string[] | Readonly<Record<string, ScopeOptions>>;

/**
 * One kind's. For one namespace each option is the first of these that is not undefined:
 *
 *  1. this kind's for that namespace
 *  2. this kind's
 *  3. the cache's for that namespace
 *  4. the cache's
 */
export interface KindOptions extends ScopeOptions {
  /** Which kind: by kind or resource, with group and version as far as needed. */
  readonly of: KindName | ResourceName;
  /** Default: the cache's; empty: all. Not for what is cluster-scoped. */
  readonly namespaces?: NamespaceSet;
  /** Default: the cache's. */
  readonly resyncPeriodMs?: number;
}

type OfInformers = Omit<
  InformerOptions<KubeObject>,
  'namespace' | 'projection' | 'fields' | 'indexers' | keyof ScopeOptions
>;

export interface InformersMapOptions extends OfInformers, ScopeOptions {
  /** In messages. Default: InformersMap. */
  readonly name?: string;
  /** Those of namespaced kinds. Default, and when it is empty: all. */
  readonly namespaces?: NamespaceSet;
  readonly byKind?: readonly KindOptions[];
  /** Default: one that asks the server. */
  readonly restMapper?: RestMapper;
}

/** What follows for one kind. */
export interface ResolvedKind {
  /** '' alone for all. */
  readonly namespaces: readonly string[];
  /** For one of them, or for one that is added later. */
  optionsOf(namespace: string): InformerOptions<KubeObject>;
}

const NAMESPACE = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

export class CacheOptions {
  readonly name: string;
  readonly ofInformers: OfInformers;
  readonly #defaults: ScopeOptions;
  readonly #namespaces: NamespaceSet;
  readonly #byKind: readonly KindOptions[];

  /** @throws ERR_KUBELOOM_OPTION, ERR_KUBELOOM_SELECTOR for whatever no informer could be made with */
  constructor(options: InformersMapOptions) {
    const { name = 'InformersMap', namespaces = [], byKind = [], restMapper: _mapper, ...rest } = options;
    const { labelSelector, fieldSelector, transform, ...ofInformers } = rest;
    if (typeof name !== 'string') refuse('name', name, 'text');
    resolveInformerOptions(ofInformers);
    const { threads } = ofInformers;
    if (!(threads instanceof InformerThreads)) resolveThreadsOptions(threads);
    this.#defaults = defined({ labelSelector, fieldSelector, transform });
    checkScope(this.#defaults);
    checkNamespaceSet(namespaces);
    for (const kind of byKind) checkKind(kind);
    this.name = name;
    this.ofInformers = ofInformers;
    this.#namespaces = namespaces;
    this.#byKind = byKind;
  }

  /** @throws ERR_KUBELOOM_OPTION when two entries mean it, or namespaces are set for what has none */
  resolve(ref: ResourceRef): ResolvedKind {
    const meant = this.#byKind.filter(({ of }) => isOf(of, ref));
    const [own = { of: ref }] = meant;
    if (meant.length > 1) {
      throw new KubeloomError('ERR_KUBELOOM_OPTION', `byKind has ${groupResource(ref)} twice`);
    }
    if (!ref.isNamespaced && own.namespaces !== undefined) throw clusterScoped(ref);
    const set = own.namespaces ?? this.#namespaces;
    const names = ref.isNamespaced ? namesOf(set) : [];
    const { resyncPeriodMs } = own;
    const ofInformers =
      resyncPeriodMs === undefined ? this.ofInformers : { ...this.ofInformers, resyncPeriodMs };
    return {
      namespaces: names.length === 0 ? [''] : names,
      optionsOf: (namespace) => {
        const chain = [
          scopeIn(own.namespaces, namespace),
          own,
          ref.isNamespaced ? scopeIn(this.#namespaces, namespace) : {},
          this.#defaults,
        ];
        return { ...ofInformers, ...inherited(chain), ...(namespace === '' ? {} : { namespace }) };
      },
    };
  }
}

/** @throws ERR_KUBELOOM_OPTION unless these are names of namespaces, each once */
export function checkNamespaces(names: readonly string[]): void {
  if (!Array.isArray(names)) refuse('namespaces', names, 'a list of names');
  for (const name of names) {
    if (typeof name !== 'string' || !NAMESPACE.test(name)) refuse('namespaces', name, 'names of namespaces');
  }
  if (new Set(names).size < names.length) refuse('namespaces', names, 'different names');
}

export function clusterScoped(ref: ResourceRef): KubeloomError {
  return new KubeloomError(
    'ERR_KUBELOOM_OPTION',
    `${groupResource(ref)} are cluster-scoped: they are in no namespace`,
  );
}

/** Exported for the test that nothing is forgotten. */
export const INHERITED: readonly (keyof ScopeOptions)[] = ['labelSelector', 'fieldSelector', 'transform'];

/** The first that is not undefined; an empty one is left out, which is what ends inheritance. */
function inherited(chain: readonly ScopeOptions[]): InformerOptions<KubeObject> {
  const found: Record<string, unknown> = {};
  for (const option of INHERITED) {
    const value = chain.map((scope) => scope[option]).find((one) => one !== undefined);
    if (value !== undefined && value !== null && value !== '') found[option] = value;
  }
  return found;
}

function checkKind(kind: KindOptions): void {
  const { of, namespaces } = kind;
  const isNamed = typeof of === 'object' && of !== null && ('kind' in of || 'resource' in of);
  if (!isNamed)
    refuse('byKind', JSON.stringify(kind), '{ of: { kind } } or { of: { resource } } with options');
  checkScope(kind);
  resolveInformerOptions(defined({ resyncPeriodMs: kind.resyncPeriodMs }));
  if (namespaces === undefined) return;
  checkNamespaceSet(namespaces);
  const builtIn = builtInResources().filter((ref) => isOf(of, ref));
  const [first] = builtIn;
  if (first && builtIn.every(({ isNamespaced }) => !isNamespaced)) throw clusterScoped(first);
}

function checkScope({ labelSelector = '', fieldSelector = '', transform }: ScopeOptions): void {
  if (typeof labelSelector !== 'string') refuse('labelSelector', labelSelector, 'text');
  parseLabelSelector(labelSelector);
  parseFieldSelector(fieldSelector);
  const isTransform = ['function', 'object', 'undefined'].includes(typeof transform);
  if (!isTransform) refuse('transform', transform, 'a transform, or null for none');
}

function checkNamespaceSet(set: NamespaceSet): void {
  if (typeof set !== 'object' || set === null) refuse('namespaces', set, 'names, or options by name');
  checkNamespaces(namesOf(set));
  if (!Array.isArray(set)) for (const scope of Object.values(set)) checkScope(scope as ScopeOptions);
}

function namesOf(set: NamespaceSet): readonly string[] {
  return Array.isArray(set) ? (set as readonly string[]) : Object.keys(set);
}

function scopeIn(set: NamespaceSet | undefined, namespace: string): ScopeOptions {
  if (set === undefined || Array.isArray(set) || !Object.hasOwn(set, namespace)) return {};
  return (set as Readonly<Record<string, ScopeOptions>>)[namespace] ?? {};
}

function isOf(name: KindName | ResourceName, ref: ResourceRef): boolean {
  const { group = ref.group, version = ref.version } = name;
  const isSame = 'resource' in name ? name.resource === ref.resource : name.kind === ref.kind;
  return isSame && group === ref.group && version === ref.version;
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function defined<T extends object>(options: T): Defined<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Defined<T>;
}
