/**
 * The resources of the server: from group/version/resource to kind, scope and the few facts that the verbs need.
 * CustomResourceDefinitions and `registerResource` add more at run time.
 */

import { KubeloomError } from '../../../base/errors.ts';
import type { FieldType } from '../fields/schema-types.ts';
import type { Column } from './column.ts';
import type { FieldError } from './field-error.ts';
import type { JsonObject, KubeObject } from './json.ts';

/** A resource that the server for tests serves. */
export interface ResourceDefinition {
  /** API group; '' for the core group. */
  readonly group: string;
  /** Version of the group: `v1beta1`. */
  readonly version: string;
  /** Plural and lower case, as in URLs. */
  readonly resource: string;
  /** Kind of the objects: `Widget`. */
  readonly kind: string;
  /** False for a cluster-scoped resource. */
  readonly namespaced: boolean;
  /** Short names for kubectl, as discovery lists them. Default: none. */
  readonly shortNames?: readonly string[];
  /** True if there is a `/status` subresource; writes to the object itself then leave `status` unchanged. */
  readonly status?: boolean;
  /** Selectable fields beyond metadata.name and metadata.namespace: path to the value when absent. */
  readonly fields?: Readonly<Record<string, string>>;
  /** True when an update with a deletionTimestamp precedes the deletion (pods). */
  readonly graceful?: boolean;
  /** True when DELETE answers with the object instead of a Status. */
  readonly returnsDeleted?: boolean;
  /** True for custom resources: they are written with sorted keys, and their list items contain kind and apiVersion. */
  readonly custom?: boolean;
}

/** Paths in an object, from which `/scale` is made. */
export interface ScalePaths {
  readonly replicas: readonly string[];
  readonly statusReplicas: readonly string[];
  /** Path of a selector: text, or a label selector. */
  readonly selector: readonly string[];
}

/** The rules for the contents of objects. */
export interface ResourceSchema {
  /** The type by which managers own fields. */
  readonly fieldType: FieldType;
  /**
   * Returns the object as it is kept: without unknown fields, with defaults. @param isTrusted true for the control API, which
   * stores objects of built-in kinds that no client could send
   * @throws StatusError 400 for a value that a built-in kind cannot contain
   */
  coerce(object: KubeObject, isTrusted: boolean, keepsNulls?: boolean): KubeObject;
  /** Paths of the fields that `coerce` removes because the schema does not name them. */
  unknownFields(object: KubeObject): readonly string[];
  /** Returns the broken rules of an object that `coerce` returned. @param isTrusted true for the control API and for subresources */
  validate(object: KubeObject, previous: KubeObject | undefined, isTrusted: boolean): readonly FieldError[];
}

/** @internal A definition with the facts that only the server itself can give. */
export interface ServedResource extends ResourceDefinition {
  readonly listKind?: string;
  readonly singular?: string;
  readonly categories?: readonly string[];
  /** The verbs in discovery, if some are missing. */
  readonly verbs?: readonly string[];
  /** Selectable fields that are no paths. */
  readonly derived?: Readonly<Record<string, (object: KubeObject) => string>>;
  readonly scale?: ScalePaths;
  readonly schema?: ResourceSchema;
  /** OpenAPI of a custom kind, as its definition contains it. */
  readonly document?: JsonObject;
  /** Columns of tables; undefined for the name and the age. */
  readonly columns?: readonly Column[];
  /** Answers a creation instead of storing the object. */
  readonly review?: (object: KubeObject) => KubeObject;
  /** True when a deletion without a policy leaves the dependents. */
  readonly orphansDependents?: boolean;
  /** Warning of every answer about a deprecated version. */
  readonly deprecation?: string;
  /** True while the CustomResourceDefinition is being deleted: creations are refused. */
  readonly terminating?: boolean;
}

export function apiVersionOf(definition: Pick<ResourceDefinition, 'group' | 'version'>): string {
  return definition.group === '' ? definition.version : `${definition.group}/${definition.version}`;
}

function keyOf({ group, version, resource }: Pick<ServedResource, 'group' | 'version' | 'resource'>): string {
  return `${group}/${version}/${resource}`;
}

/** @internal The registered resources, found by the parts of a URL, by kind or by kubectl's name. */
export class ResourceTable {
  readonly #definitions: Map<string, ServedResource>;

  constructor(builtIn: readonly ServedResource[]) {
    this.#definitions = new Map(builtIn.map((definition) => [keyOf(definition), definition]));
  }

  register(definition: ServedResource): void {
    const { group, version, resource } = definition;
    if (this.find(group, version, resource)) {
      throw new KubeloomError('ERR_KUBELOOM_OPTION', `${resource}.${version}.${group} is already registered`);
    }
    this.#definitions.set(keyOf(definition), definition);
  }

  unregister(definition: ServedResource): void {
    this.#definitions.delete(keyOf(definition));
  }

  find(group: string, version: string, resource: string): ServedResource | undefined {
    return this.#definitions.get(keyOf({ group, version, resource }));
  }

  /** Returns the resource of the `apiVersion` and `kind` of a reference. */
  ofKind(apiVersion: string, kind: string): ServedResource | undefined {
    return this.all().find((entry) => entry.kind === kind && apiVersionOf(entry) === apiVersion);
  }

  /** True when a resource of this group and version is registered. */
  serves(group: string, version: string): boolean {
    return this.all().some((entry) => entry.group === group && entry.version === version);
  }

  /** Returns the resource of a name such as `pods` or `deployments.apps`: the resource, followed by the group. */
  named(name: string): ServedResource {
    const [resource = '', ...group] = name.split('.');
    const groupName = group.join('.');
    const found = this.all().find((entry) => entry.resource === resource && entry.group === groupName);
    if (found === undefined) {
      const message = `no resource ${name}: use the plural and the group (pods, deployments.apps), or register it`;
      throw new KubeloomError('ERR_KUBELOOM_UNKNOWN_RESOURCE', message);
    }
    return found;
  }

  all(): readonly ServedResource[] {
    return [...this.#definitions.values()];
  }
}
