/**
 * Typed informers of the built-in resources: `factory.apps.v1.deployments`. The table of resources defines the
 * properties, both at run time and for the compiler.
 */
import { KubeloomError } from '../../base/errors.ts';
import type { Lister } from '../lister.ts';
import type { SharedIndexInformer } from '../shared-index-informer.ts';
import type { ResourceRef } from '../../kube/resource.ts';
import { BUILT_IN_GROUPS, findBuiltIn } from '../../kube/resources.ts';
import type { BuiltInGroups } from '../../kube/resources.ts';
import type { BuiltInWire, KubeObject } from '../../kube/wire.ts';
import { InformerFactory } from './informer-factory.ts';
import type { GenericInformer, FactoryOptions, FactorySource } from './informer-factory.ts';
import { groupResource } from './resource-query.ts';
import type { ResourceQuery } from './resource-query.ts';

/** Properties such as `core.v1.pods`. The first read of `informer` or `lister` creates the informer. */
export type BuiltInInformers = {
  readonly [Group in keyof BuiltInGroups]: {
    readonly [Version in keyof BuiltInGroups[Group]['versions']]: {
      readonly [Resource in keyof BuiltInGroups[Group]['versions'][Version]]: GenericInformer<
        BuiltInWire<Group, Version, Resource>
      >;
    };
  };
};

/** Informers of the built-in kinds, shared: `factory.core.v1.pods`. */
export class SharedInformerFactory extends InformerFactory<'object'> implements BuiltInInformers {
  /** Informers of the core group, whose name is empty: `core.v1.pods`. */
  declare readonly core: BuiltInInformers['core'];
  /** Informers of the group `admissionregistration.k8s.io`. */
  declare readonly admissionregistration: BuiltInInformers['admissionregistration'];
  /** Informers of the group `apiextensions.k8s.io`. */
  declare readonly apiextensions: BuiltInInformers['apiextensions'];
  /** Informers of the group `apiregistration.k8s.io`. */
  declare readonly apiregistration: BuiltInInformers['apiregistration'];
  /** Informers of the group `internal.apiserver.k8s.io`. */
  declare readonly apiserverinternal: BuiltInInformers['apiserverinternal'];
  /** Informers of the group `apps`. */
  declare readonly apps: BuiltInInformers['apps'];
  /** Informers of the group `autoscaling`. */
  declare readonly autoscaling: BuiltInInformers['autoscaling'];
  /** Informers of the group `batch`. */
  declare readonly batch: BuiltInInformers['batch'];
  /** Informers of the group `certificates.k8s.io`. */
  declare readonly certificates: BuiltInInformers['certificates'];
  /** Informers of the group `coordination.k8s.io`. */
  declare readonly coordination: BuiltInInformers['coordination'];
  /** Informers of the group `discovery.k8s.io`. */
  declare readonly discovery: BuiltInInformers['discovery'];
  /** Informers of the group `events.k8s.io`. */
  declare readonly events: BuiltInInformers['events'];
  /** Informers of the group `flowcontrol.apiserver.k8s.io`. */
  declare readonly flowcontrol: BuiltInInformers['flowcontrol'];
  /** Informers of the group `networking.k8s.io`. */
  declare readonly networking: BuiltInInformers['networking'];
  /** Informers of the group `node.k8s.io`. */
  declare readonly node: BuiltInInformers['node'];
  /** Informers of the group `policy`. */
  declare readonly policy: BuiltInInformers['policy'];
  /** Informers of the group `rbac.authorization.k8s.io`. */
  declare readonly rbac: BuiltInInformers['rbac'];
  /** Informers of the group `resource.k8s.io`. */
  declare readonly resource: BuiltInInformers['resource'];
  /** Informers of the group `scheduling.k8s.io`. */
  declare readonly scheduling: BuiltInInformers['scheduling'];
  /** Informers of the group `storage.k8s.io`. */
  declare readonly storage: BuiltInInformers['storage'];
  /** Informers of the group `storagemigration.k8s.io`. */
  declare readonly storagemigration: BuiltInInformers['storagemigration'];

  /** @param source an apiserver, or functions on this thread instead */
  constructor(source: FactorySource, options: FactoryOptions = {}) {
    super(source, options, 'object');
    Object.assign(this, builtInInformers(this));
  }

  /** Returns whether `forResource` accepts these names without a kind and a scope. */
  knows(query: ResourceQuery): boolean {
    return this.holds(query) || findBuiltIn(query) !== undefined;
  }

  /**
   * Returns a built-in resource, or the resource of a query with kind and scope.
   *
   * @throws ERR_KUBELOOM_UNKNOWN_RESOURCE if the resource is not built in and the query lacks kind or scope
   */
  protected override resolve(query: ResourceQuery): ResourceRef {
    const builtIn = findBuiltIn(query);
    if (builtIn) return builtIn;
    const { group, version, resource, kind = '', isNamespaced } = query;
    if (kind !== '' && isNamespaced !== undefined) return { group, version, resource, kind, isNamespaced };
    throw new KubeloomError(
      'ERR_KUBELOOM_UNKNOWN_RESOURCE',
      `no informer found for ${groupResource(query)} (${version}): it is not built in; add its kind and scope, ` +
        'or use a DynamicSharedInformerFactory',
    );
  }
}

/** The part of the table that this file uses. */
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

/** GenericInformer that creates the informer on the first read. */
class OnDemand implements GenericInformer<KubeObject> {
  readonly #factory: SharedInformerFactory;
  readonly #resource: ResourceQuery;

  constructor(factory: SharedInformerFactory, resource: ResourceQuery) {
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
