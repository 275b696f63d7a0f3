/**
 * Informers of the built-in resources, typed: `factory.apps.v1.deployments`. The properties are made from the table
 * of resources, at run time and for the compiler alike.
 */
import { KubeloomError } from '../errors.ts';
import type { Lister } from '../informer/lister.ts';
import type { SharedIndexInformer } from '../informer/shared-index-informer.ts';
import type { ResourceRef } from '../kube/resource.ts';
import { BUILT_IN_GROUPS, findBuiltIn } from '../kube/resources.ts';
import type { BuiltInGroups } from '../kube/resources.ts';
import type { BuiltInWire, KubeObject } from '../kube/wire.ts';
import { InformerFactory } from './informer-factory.ts';
import type { GenericInformer } from './informer-factory.ts';
import type { FactoryOptions, FactorySource } from './options.ts';
import { groupResource } from './resource-wish.ts';
import type { ResourceWish } from './resource-wish.ts';

/** `core.v1.pods`, `apps.v1.deployments`, …: asking for `informer` or `lister` is what makes the informer. */
export type BuiltInInformers = {
  readonly [Group in keyof BuiltInGroups]: {
    readonly [Version in keyof BuiltInGroups[Group]['versions']]: {
      readonly [Resource in keyof BuiltInGroups[Group]['versions'][Version]]: GenericInformer<
        BuiltInWire<Group, Version, Resource>
      >;
    };
  };
};

export class SharedInformerFactory extends InformerFactory<KubeObject> implements BuiltInInformers {
  declare readonly core: BuiltInInformers['core'];
  declare readonly admissionregistration: BuiltInInformers['admissionregistration'];
  declare readonly apiextensions: BuiltInInformers['apiextensions'];
  declare readonly apiregistration: BuiltInInformers['apiregistration'];
  declare readonly apiserverinternal: BuiltInInformers['apiserverinternal'];
  declare readonly apps: BuiltInInformers['apps'];
  declare readonly autoscaling: BuiltInInformers['autoscaling'];
  declare readonly batch: BuiltInInformers['batch'];
  declare readonly certificates: BuiltInInformers['certificates'];
  declare readonly coordination: BuiltInInformers['coordination'];
  declare readonly discovery: BuiltInInformers['discovery'];
  declare readonly events: BuiltInInformers['events'];
  declare readonly flowcontrol: BuiltInInformers['flowcontrol'];
  declare readonly networking: BuiltInInformers['networking'];
  declare readonly node: BuiltInInformers['node'];
  declare readonly policy: BuiltInInformers['policy'];
  declare readonly rbac: BuiltInInformers['rbac'];
  declare readonly resource: BuiltInInformers['resource'];
  declare readonly scheduling: BuiltInInformers['scheduling'];
  declare readonly storage: BuiltInInformers['storage'];
  declare readonly storagemigration: BuiltInInformers['storagemigration'];

  /** @param source an apiserver, or functions on this thread in its place */
  constructor(source: FactorySource, options: FactoryOptions = {}) {
    super(source, options, 'object');
    Object.assign(this, builtInInformers(this));
  }

  /** Whether `forResource` has an answer to these names alone. */
  knows(wish: ResourceWish): boolean {
    return this.holds(wish) || findBuiltIn(wish) !== undefined;
  }

  /** @throws ERR_KUBELOOM_UNKNOWN_RESOURCE for what is neither built in nor described in full */
  protected override resolve(wish: ResourceWish): ResourceRef {
    const builtIn = findBuiltIn(wish);
    if (builtIn) return builtIn;
    const { group, version, resource, kind = '', isNamespaced } = wish;
    if (kind !== '' && isNamespaced !== undefined) return { group, version, resource, kind, isNamespaced };
    throw new KubeloomError(
      'ERR_KUBELOOM_UNKNOWN_RESOURCE',
      `no informer found for ${groupResource(wish)} (${version}): it is not built in; say its kind and scope as ` +
        'well, or use a DynamicSharedInformerFactory',
    );
  }
}

/** The table, as far as it matters here. */
type Groups = Readonly<
  Record<string, { readonly group: string; readonly versions: Readonly<Record<string, object>> }>
>;

function builtInInformers(factory: SharedInformerFactory): object {
  const groups: Groups = BUILT_IN_GROUPS;
  return mapValues(groups, ({ group, versions }) =>
    mapValues(versions, (resources, version) =>
      mapValues({ ...resources }, (_scope, name) => {
        return new OnDemand(factory, { group, version, resource: name.toLowerCase() });
      }),
    ),
  );
}

/** Nothing is requested before it is needed. */
class OnDemand implements GenericInformer<KubeObject> {
  readonly #factory: SharedInformerFactory;
  readonly #resource: ResourceWish;

  constructor(factory: SharedInformerFactory, resource: ResourceWish) {
    this.#factory = factory;
    this.#resource = resource;
  }

  get informer(): SharedIndexInformer<KubeObject> {
    return this.#factory.forResource(this.#resource).informer;
  }

  get lister(): Lister<KubeObject> {
    return this.#factory.forResource(this.#resource).lister;
  }
}

function mapValues<Value, Result>(
  record: Readonly<Record<string, Value>>,
  map: (value: Value, name: string) => Result,
): Record<string, Result> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]));
}
