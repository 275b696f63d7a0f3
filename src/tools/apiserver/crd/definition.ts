/**
 * CustomResourceDefinitions: the resource `customresourcedefinitions` with its rules, and the resources that a
 * definition defines, a resource for each version.
 */

import { isDeepStrictEqual } from 'node:util';
import type { FieldError } from '../store/field-error.ts';
import { isJsonObject } from '../store/json.ts';
import type { Json, JsonObject, KubeObject, ObjectMeta } from '../store/json.ts';
import { discovered } from '../shapes/built-in-resources.ts';
import { withShape } from '../shapes/built-in-schema.ts';
import type { KindRules } from '../shapes/built-in-schema.ts';
import { builtInKinds } from '../shapes/shapes.ts';
import type { Column } from '../store/column.ts';
import type { ScalePaths, ServedResource } from '../store/resources.ts';
import { conversionErrors } from './definition-conversion.ts';
import { invalidValue, members, objects, required, text, texts, unsupported } from '../store/causes.ts';
import { APPROVAL, approvalErrors, groupErrors, missingNames, namesErrors } from './definition-names.ts';
import { storedVersionErrors, storedVersions, versionErrors } from './definition-versions.ts';
import { isSet } from './structural-rules.ts';
import { StructuralSchema } from './schema.ts';
import type { SchemaNode } from './schema-node.ts';

export interface Names extends JsonObject {
  plural: string;
  kind: string;
  singular?: string;
  listKind?: string;
  shortNames?: string[];
  categories?: string[];
}

interface PrinterColumn extends JsonObject {
  name: string;
  type: string;
  jsonPath: string;
  format?: string;
  description?: string;
  priority?: number;
}

interface Version extends JsonObject {
  name: string;
  served: boolean;
  storage: boolean;
  schema?: { openAPIV3Schema?: SchemaNode };
  subresources?: { status?: JsonObject; scale?: JsonObject };
  selectableFields?: { jsonPath: string }[];
  additionalPrinterColumns?: PrinterColumn[];
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
      document: version.schema?.openAPIV3Schema ?? {},
      status: status !== undefined,
      terminating: definition.metadata.deletionTimestamp !== undefined,
      ...(version['deprecated'] === true ? { deprecation: deprecationOf(group, kind, version) } : {}),
      ...(singular === undefined ? {} : { singular }),
      ...(listKind === undefined ? {} : { listKind }),
      ...(shortNames === undefined ? {} : { shortNames }),
      ...(categories === undefined ? {} : { categories }),
      ...(scale === undefined ? {} : { scale: scalePathsOf(scale) }),
      ...(version.additionalPrinterColumns === undefined
        ? {}
        : { columns: columnsOf(version.additionalPrinterColumns) }),
      ...(version.selectableFields === undefined ? {} : { fields: fieldsOf(version.selectableFields) }),
    };
    return { resource, served: version.served, storage: version.storage };
  });
}

function deprecationOf(group: string, kind: string, version: Version): string {
  const given = text(version['deprecationWarning']);
  return given === '' ? `${group}/${version.name} ${kind} is deprecated` : given;
}

/** An absent field equals the empty string. */
function fieldsOf(selectable: readonly { readonly jsonPath: string }[]): Record<string, string> {
  return Object.fromEntries(selectable.map(({ jsonPath }) => [jsonPath.replace(/^\./, ''), '']));
}

function columnsOf(columns: readonly PrinterColumn[]): Column[] {
  const described = columns.map((column) => {
    const words = `Custom resource definition column (in JSONPath format): ${column.jsonPath}`;
    return { ...column, description: column.description ?? words };
  });
  return [{ name: 'Name', type: 'string', format: 'name' }, ...described];
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

const SCOPES = ['Cluster', 'Namespaced'];
const PRESERVE_ADVICE =
  'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';

function objectNameErrors({ name, generateName }: ObjectMeta, wanted: string): FieldError[] {
  return Object.entries({ generateName, name })
    .filter(([, given]) => given !== undefined && given !== '' && given !== wanted)
    .map(([field, given]) =>
      invalidValue(`metadata.${field}`, given, 'must be spec.names.plural+"."+spec.group'),
    );
}

function hasDefaults(value: Json | undefined): boolean {
  if (Array.isArray(value)) return value.some(hasDefaults);
  return isJsonObject(value) && (isSet(value['default']) || Object.values(value).some(hasDefaults));
}

function specErrors(spec: JsonObject): FieldError[] {
  const { versions, conversion, preserveUnknownFields } = spec;
  const [names, scope] = [members(spec['names']), text(spec['scope'])];
  const errors = groupErrors(text(spec['group']));
  if (scope === '') errors.push(required('spec.scope'));
  else if (!SCOPES.includes(scope)) errors.push(unsupported('spec.scope', scope, SCOPES));
  if (preserveUnknownFields === true && objects(versions).some(({ schema }) => hasDefaults(schema))) {
    const why = 'must be false in order to use defaults in the schema';
    errors.push(invalidValue('spec.preserveUnknownFields', true, why));
  }
  const { own, shared } = versionErrors(spec);
  errors.push(...own, ...missingNames(names), ...namesErrors(names, 'spec.names'), ...shared);
  const wanted = members(conversion ?? { strategy: 'None' });
  if (preserveUnknownFields === true && wanted['strategy'] !== 'None') {
    const why = 'must be None if spec.preserveUnknownFields is true';
    errors.push(invalidValue('spec.conversion.strategy', text(wanted['strategy']), why));
  }
  errors.push(...conversionErrors(wanted));
  // The embedded apiserver calls no webhooks.
  if (errors.length === 0 && wanted['strategy'] === 'Webhook')
    errors.push(unsupported('spec.conversion.strategy', 'Webhook', ['None']));
  return errors;
}

function immutableErrors(spec: JsonObject, before: JsonObject, status: JsonObject): FieldError[] {
  const isEstablished = objects(status['conditions']).some(
    (condition) => condition['type'] === 'Established' && condition['status'] === 'True',
  );
  const [names, namesBefore] = [members(spec['names']), members(before['names'])];
  const pairs: [string, Json | undefined, Json | undefined][] = [
    ['scope', spec['scope'], before['scope']],
    ['names.kind', names['kind'], namesBefore['kind']],
    ['group', spec['group'], before['group']],
    ['names.plural', names['plural'], namesBefore['plural']],
  ];
  return pairs
    .slice(isEstablished ? 0 : 2)
    .filter(([, now, then]) => !isDeepStrictEqual(now, then))
    .map(([field, now]) => invalidValue(`spec.${field}`, text(now), 'field is immutable'));
}

/** Defaults and rules of CustomResourceDefinitions. */
const RULES: KindRules = {
  coerce(object) {
    const { spec } = object;
    if (!isJsonObject(spec)) return object;
    const names = members(spec['names']);
    const [kind, singular, listKind] = [
      text(names['kind']),
      text(names['singular']),
      text(names['listKind']),
    ];
    const derived = {
      singular: singular === '' ? kind.toLowerCase() : singular,
      listKind: listKind === '' && kind !== '' ? `${kind}List` : listKind,
    };
    const conversion = spec['conversion'] ?? { strategy: 'None' };
    return { ...object, spec: { ...spec, conversion, names: { ...names, ...derived } } };
  },
  validate(object, previous) {
    const [spec, metadata] = [members(object['spec']), object.metadata];
    const { names, group } = { names: members(spec['names']), group: text(spec['group']) };
    const [before, status] = [members(previous?.['status']), members(object['status'])];
    const isStatusWrite = previous !== undefined && !isDeepStrictEqual(previous['status'], object['status']);
    const stored = storedVersions(texts(before['storedVersions']), spec);
    const approval = text(metadata.annotations?.[APPROVAL]);
    const isApprovalOld =
      previous !== undefined && approval === text(previous.metadata.annotations?.[APPROVAL]);
    return [
      ...(previous === undefined ? objectNameErrors(metadata, `${text(names['plural'])}.${group}`) : []),
      ...specErrors(spec),
      ...(previous === undefined ? [] : immutableErrors(spec, members(previous['spec']), before)),
      ...namesErrors(members(status['acceptedNames']), 'status.acceptedNames'),
      ...(isStatusWrite ? [] : storedVersionErrors(stored, spec)),
      ...(isApprovalOld ? [] : approvalErrors(group, approval)),
      ...(spec['preserveUnknownFields'] === true
        ? [invalidValue('spec.preserveUnknownFields', true, PRESERVE_ADVICE)]
        : []),
    ];
  },
};

/** Returns the resource `customresourcedefinitions`. */
export function definitions(): ServedResource {
  const found = builtInKinds().resources.find(({ resource }) => resource === 'customresourcedefinitions');
  if (found === undefined) throw new Error('the table of built-in kinds lacks customresourcedefinitions');
  return withShape(discovered(found), RULES);
}
