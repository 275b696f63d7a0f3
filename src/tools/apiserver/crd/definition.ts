/**
 * CustomResourceDefinitions: the resource `customresourcedefinitions` with its rules, and the resources that a
 * definition defines, a resource for each version.
 */

import { isDeepStrictEqual } from 'node:util';
import { messageOf } from '../../../base/errors.ts';
import type { FieldError } from '../store/field-error.ts';
import { isJsonObject, textOf } from '../store/json.ts';
import type { Json, JsonObject, KubeObject } from '../store/json.ts';
import { discovered } from '../shapes/built-in-resources.ts';
import { withShape } from '../shapes/built-in-schema.ts';
import type { KindRules } from '../shapes/built-in-schema.ts';
import { builtInKinds } from '../shapes/shapes.ts';
import type { ScalePaths, ServedResource } from '../store/resources.ts';
import { StructuralSchema } from './schema.ts';
import { schemaErrors } from './schema-rules.ts';
import type { SchemaNode } from './schema-node.ts';

export interface Names extends JsonObject {
  plural: string;
  kind: string;
  singular?: string;
  listKind?: string;
  shortNames?: string[];
  categories?: string[];
}

interface Version extends JsonObject {
  name: string;
  served: boolean;
  storage: boolean;
  schema?: { openAPIV3Schema?: SchemaNode };
  subresources?: { status?: JsonObject; scale?: JsonObject };
  selectableFields?: { jsonPath: string }[];
}

export interface DefinitionSpec extends JsonObject {
  group: string;
  scope: string;
  names: Names;
  versions: Version[];
}

/** The spec of a CustomResourceDefinition that is stored, and so follows the rules. */
export function specOf(definition: KubeObject): DefinitionSpec {
  return definition['spec'] as DefinitionSpec;
}

export interface DefinedVersion {
  readonly resource: ServedResource;
  readonly served: boolean;
  readonly storage: boolean;
}

/** Returns the resource of each version. */
export function versionsOf(definition: KubeObject): DefinedVersion[] {
  const { group, scope, names, versions } = specOf(definition);
  const { plural, kind, singular, listKind, shortNames, categories } = names;
  return versions.map((version) => {
    const { status, scale } = version.subresources ?? {};
    const resource: ServedResource = {
      group,
      version: version.name,
      resource: plural,
      kind,
      namespaced: scope === 'Namespaced',
      custom: true,
      schema: new StructuralSchema(version.schema?.openAPIV3Schema ?? {}),
      status: status !== undefined,
      terminating: definition.metadata.deletionTimestamp !== undefined,
      ...(singular === undefined ? {} : { singular }),
      ...(listKind === undefined ? {} : { listKind }),
      ...(shortNames === undefined ? {} : { shortNames }),
      ...(categories === undefined ? {} : { categories }),
      ...(scale === undefined ? {} : { scale: scalePathsOf(scale) }),
      ...(version.selectableFields === undefined ? {} : { fields: fieldsOf(version.selectableFields) }),
    };
    return { resource, served: version.served, storage: version.storage };
  });
}

/** An absent field equals the empty string. */
function fieldsOf(selectable: readonly { readonly jsonPath: string }[]): Record<string, string> {
  return Object.fromEntries(selectable.map(({ jsonPath }) => [jsonPath.replace(/^\./, ''), '']));
}

function scalePathsOf(scale: JsonObject): ScalePaths {
  const path = (name: string): string[] => {
    const text = scale[name];
    return typeof text === 'string' ? text.split('.').filter((part) => part !== '') : [];
  };
  return {
    replicas: path('specReplicasPath'),
    statusReplicas: path('statusReplicasPath'),
    selector: path('labelSelectorPath'),
  };
}

/** Defaults and rules of CustomResourceDefinitions, as far as this server depends on them. */
const RULES: KindRules = {
  coerce(object) {
    const { spec } = object;
    if (!isJsonObject(spec) || !isJsonObject(spec['names'])) return object;
    const { names } = spec;
    const kind = typeof names['kind'] === 'string' ? names['kind'] : '';
    const derived = { singular: kind.toLowerCase(), listKind: `${kind}List` };
    return {
      ...object,
      spec: { conversion: { strategy: 'None' }, ...spec, names: { ...derived, ...names } },
    };
  },
  validate(object, previous) {
    const errors = [...specErrors(object['spec']), ...nameErrors(object)];
    if (previous === undefined || errors.length > 0) return errors;
    return immutableErrors(specOf(object), specOf(previous));
  },
};

/** Returns the resource `customresourcedefinitions`. */
export function definitions(): ServedResource {
  const found = builtInKinds().resources.find(({ resource }) => resource === 'customresourcedefinitions');
  if (found === undefined) throw new Error('the table of built-in kinds lacks customresourcedefinitions');
  return withShape(discovered(found), RULES);
}

function required(field: string): FieldError {
  return { type: 'FieldValueRequired', field, body: 'Required value' };
}

function unsupported(field: string, value: Json | undefined, supported: readonly string[]): FieldError {
  const quoted = supported.map((name) => JSON.stringify(name)).join(', ');
  const body = `Unsupported value: ${JSON.stringify(value)}: supported values: ${quoted}`;
  return { type: 'FieldValueNotSupported', field, body };
}

function invalidValue(field: string, value: Json | undefined, why: string): FieldError {
  return { type: 'FieldValueInvalid', field, body: `Invalid value: ${JSON.stringify(value)}: ${why}` };
}

function specErrors(spec: Json | undefined): FieldError[] {
  if (!isJsonObject(spec)) return [required('spec')];
  const { group, scope, names, versions, conversion } = spec;
  const errors: FieldError[] = [];
  if (typeof group !== 'string' || group === '') errors.push(required('spec.group'));
  if (scope !== 'Namespaced' && scope !== 'Cluster') {
    errors.push(unsupported('spec.scope', scope ?? '', ['Cluster', 'Namespaced']));
  }
  for (const name of ['plural', 'kind']) {
    if (!isJsonObject(names) || typeof names[name] !== 'string') errors.push(required(`spec.names.${name}`));
  }
  const strategy = isJsonObject(conversion) ? conversion['strategy'] : 'None';
  if (strategy !== 'None') errors.push(unsupported('spec.conversion.strategy', strategy, ['None']));
  const list = Array.isArray(versions) ? versions.filter((version) => isJsonObject(version)) : [];
  for (const [index, version] of list.entries())
    errors.push(...versionErrors(version, `spec.versions[${index}]`));
  if (list.filter(({ storage }) => storage === true).length !== 1) {
    const why = 'must have exactly one version marked as storage version';
    errors.push(
      invalidValue(
        'spec.versions',
        list.map(({ name }) => name ?? null),
        why,
      ),
    );
  }
  return errors;
}

function versionErrors({ name, schema }: JsonObject, path: string): FieldError[] {
  const root = isJsonObject(schema) ? schema['openAPIV3Schema'] : undefined;
  const named = typeof name === 'string' && name !== '' ? [] : [required(`${path}.name`)];
  if (!isJsonObject(root)) {
    return [...named, required(`${path}.schema.openAPIV3Schema`)];
  }
  const field = `${path}.schema.openAPIV3Schema`;
  const errors = schemaErrors(root, field);
  return [...named, ...(errors.length > 0 ? errors : compileErrors(root, field))];
}

/** Reports schemas that ajv cannot compile, such as a pattern that only Go can read. */
function compileErrors(root: JsonObject, field: string): FieldError[] {
  try {
    void new StructuralSchema(root);
    return [];
  } catch (error) {
    const why = `the embedded apiserver cannot use the schema: ${messageOf(error)}`;
    return [{ type: 'FieldValueInvalid', field, body: `Invalid value: ${why}` }];
  }
}

function nameErrors({ metadata, spec }: KubeObject): FieldError[] {
  if (!isJsonObject(spec) || !isJsonObject(spec['names'])) return [];
  const wanted = `${textOf(spec['names']['plural'])}.${textOf(spec['group'])}`;
  if (metadata.name === wanted) return [];
  return [invalidValue('metadata.name', metadata.name, 'must be spec.names.plural+"."+spec.group')];
}

function immutableErrors(spec: DefinitionSpec, before: DefinitionSpec): FieldError[] {
  const pairs: [string, Json, Json][] = [
    ['spec.group', spec.group, before.group],
    ['spec.scope', spec.scope, before.scope],
    ['spec.names.plural', spec.names.plural, before.names.plural],
    ['spec.names.kind', spec.names.kind, before.names.kind],
  ];
  return pairs
    .filter(([, now, then]) => !isDeepStrictEqual(now, then))
    .map(([field, now]) => invalidValue(field, now, 'field is immutable'));
}
