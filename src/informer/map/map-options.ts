/**
 * The options of an InformersMap, for all kinds and for single kinds, and the resulting options of a kind in a
 * namespace. As in controller-runtime, `undefined` inherits and an empty value ends inheritance.
 */
import { KubeloomError } from '../../base/errors.ts';
import { groupResource } from '../factory/resource-query.ts';
import { INFORMER_CHECKS, resolveInformerOptions } from '../informer-options.ts';
import type { InformerOptions } from '../informer-options.ts';
import type { Transform } from '../transform.ts';
import { isNamespaceName } from '../../kube/resource.ts';
import type { ResourceRef } from '../../kube/resource.ts';
import { builtInResources } from '../../kube/resources.ts';
import type { KindName, ResourceName, RestMapper } from '../../kube/rest-mapper.ts';
import type { KubeObject } from '../../kube/wire.ts';
import { anything, having, invalidOption, text, checkOptions } from '../../base/option-checks.ts';
import type { OptionChecks } from '../../base/option-checks.ts';

/** Selectors and transform. `undefined` inherits the value of the next level: see `KindOptions`. */
export interface ScopeOptions {
  /** '' selects everything. */
  readonly labelSelector?: string;
  /** Field selector that the server evaluates; '' selects everything. */
  readonly fieldSelector?: string;
  /** null: no transform. In the metadata view the transform receives the metadata. */
  readonly transform?: Transform<KubeObject> | null;
}

/** Names, or options by name. Empty: all namespaces. */
export type NamespaceSet = readonly string[] | Readonly<Record<string, ScopeOptions>>;

/**
 * Options of a kind. In a namespace, each option takes the first of these values that is not undefined:
 *
 * 1. the value of this kind for that namespace
 * 2. the value of this kind
 * 3. the value of the cache for that namespace
 * 4. the value of the cache
 */
export interface KindOptions extends ScopeOptions {
  /** Name of the kind: kind or resource, with group and version if needed. */
  readonly of: KindName | ResourceName;
  /** Default: the cache's; empty: all. Not allowed for cluster-scoped kinds. */
  readonly namespaces?: NamespaceSet;
  /** Default: the cache's. */
  readonly resyncPeriodMs?: number;
}

type OfInformers = Omit<
  InformerOptions<KubeObject>,
  'namespace' | 'view' | 'fields' | 'indexers' | keyof ScopeOptions
>;

/** Options of a cache of kinds. */
export interface InformersMapOptions extends OfInformers, ScopeOptions {
  /** Name in messages. Default: InformersMap. */
  readonly name?: string;
  /** Namespaces of namespaced kinds. Default, and empty: all. */
  readonly namespaces?: NamespaceSet;
  /** Options of single kinds; a kind may occur once. Default: none. */
  readonly byKind?: readonly KindOptions[];
  /** Default: a RestMapper that uses the server's discovery. */
  readonly restMapper?: RestMapper;
}

/** @internal Resulting options of a kind. */
export interface ResolvedKind {
  /** `['']` for all namespaces. */
  readonly namespaces: readonly string[];
  /** Returns the options for a namespace, also for a namespace that is added later. */
  optionsOf(namespace: string): InformerOptions<KubeObject>;
}

const { labelSelector: labels, fieldSelector: fields, transform: transforming } = INFORMER_CHECKS;
const SCOPE_CHECKS: OptionChecks<ScopeOptions> = {
  labelSelector: labels,
  fieldSelector: fields,
  transform: (name, value) => value === null || transforming(name, value),
};
const KIND_CHECKS: OptionChecks<KindOptions> = {
  ...SCOPE_CHECKS,
  of: anything,
  namespaces: checkNamespaceSet,
  resyncPeriodMs: INFORMER_CHECKS.resyncPeriodMs,
};
const {
  namespace: _namespace,
  view: _view,
  fields: _fields,
  indexers: _indexers,
  ...OF_INFORMERS
} = INFORMER_CHECKS;
const CHECKS: OptionChecks<InformersMapOptions> = {
  ...OF_INFORMERS,
  ...SCOPE_CHECKS,
  name: text,
  namespaces: checkNamespaceSet,
  byKind: (name, value) => {
    if (!Array.isArray(value)) invalidOption(name, value, 'an array of options with { of: { kind } }');
  },
  restMapper: having('a RestMapper', 'resourceFor'),
};

/** @internal */
export class CacheOptions {
  readonly name: string;
  readonly ofInformers: OfInformers;
  readonly #defaults: ScopeOptions;
  readonly #namespaces: NamespaceSet;
  readonly #byKind: readonly KindOptions[];

  /** @throws ERR_KUBELOOM_OPTION, ERR_KUBELOOM_SELECTOR for invalid options */
  constructor(options: InformersMapOptions) {
    checkOptions('options of an InformersMap', options, CHECKS);
    const { name = 'InformersMap', namespaces = [], byKind = [], restMapper: _mapper, ...rest } = options;
    const { labelSelector: _labels, fieldSelector: _fields, transform: _transform, ...ofInformers } = rest;
    resolveInformerOptions(ofInformers);
    for (const kind of byKind) checkKind(kind);
    this.#defaults = options;
    this.name = name;
    this.ofInformers = ofInformers;
    this.#namespaces = namespaces;
    this.#byKind = byKind;
  }

  /**
   * Returns the options of a kind.
   *
   * @throws ERR_KUBELOOM_OPTION if two entries name the kind, or a cluster-scoped kind is given namespaces
   */
  resolve(ref: ResourceRef): ResolvedKind {
    const meant = this.#byKind.filter(({ of }) => isOf(of, ref));
    const [own = { of: ref }] = meant;
    if (meant.length > 1) {
      throw new KubeloomError(
        'ERR_KUBELOOM_OPTION',
        `byKind has ${groupResource(ref)} twice: keep one entry`,
      );
    }
    if (!ref.isNamespaced && own.namespaces !== undefined) throw clusterScoped(ref);
    const set = own.namespaces ?? this.#namespaces;
    const names = ref.isNamespaced ? namesOf(set) : [];
    const { resyncPeriodMs = this.ofInformers.resyncPeriodMs } = own;
    const { shardSelector, ...others } = this.ofInformers;
    // As with namespaces, cluster-scoped objects belong to each part.
    const isDivided = shardSelector && (ref.isNamespaced || shardSelector.key === 'uid');
    const ofInformers = {
      ...others,
      ...(resyncPeriodMs === undefined ? {} : { resyncPeriodMs }),
      ...(isDivided ? { shardSelector } : {}),
    };
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

/** Checks names of namespaces. @throws ERR_KUBELOOM_OPTION for an invalid or repeated name */
export function checkNamespaces(names: readonly string[]): void {
  if (!Array.isArray(names)) invalidOption('namespaces', names, 'a list of names');
  for (const name of names) {
    if (typeof name !== 'string' || !isNamespaceName(name))
      invalidOption('namespaces', name, 'names of namespaces');
  }
  if (new Set(names).size < names.length) invalidOption('namespaces', names, 'different names');
}

export function clusterScoped(ref: ResourceRef): KubeloomError {
  return new KubeloomError(
    'ERR_KUBELOOM_OPTION',
    `${groupResource(ref)} are cluster-scoped: leave namespaces out`,
  );
}

/** Options that are inherited. Exported for the test that checks that the list is complete. */
export const INHERITED: readonly (keyof ScopeOptions)[] = ['labelSelector', 'fieldSelector', 'transform'];

/** Returns each option's first value that is not undefined, without empty values, which end inheritance. */
function inherited(chain: readonly ScopeOptions[]): InformerOptions<KubeObject> {
  const found: Record<string, unknown> = {};
  for (const option of INHERITED) {
    const value = chain.map((scope) => scope[option]).find((one) => one !== undefined);
    if (value !== undefined && value !== null && value !== '') found[option] = value;
  }
  return found;
}

function checkKind(kind: KindOptions): void {
  checkOptions('options of byKind', kind, KIND_CHECKS, 'byKind.');
  const { of, namespaces } = kind;
  const isNamed = typeof of === 'object' && of !== null && ('kind' in of || 'resource' in of);
  if (!isNamed) invalidOption('byKind.of', of, '{ kind } or { resource }');
  if (namespaces === undefined) return;
  const builtIn = builtInResources().filter((ref) => isOf(of, ref));
  const [first] = builtIn;
  if (first && builtIn.every(({ isNamespaced }) => !isNamespaced)) throw clusterScoped(first);
}

function checkNamespaceSet(name: string, set: unknown): void {
  if (typeof set !== 'object' || set === null) invalidOption(name, set, 'names, or options by name');
  checkNamespaces(namesOf(set as NamespaceSet));
  if (Array.isArray(set)) return;
  for (const [namespace, scope] of Object.entries(set)) {
    checkOptions(`options of namespace ${namespace}`, scope, SCOPE_CHECKS);
  }
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
