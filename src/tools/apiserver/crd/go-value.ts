/** Versions and schemas as a real server shows them in a cause: the JSON of its Go structs, with every field. */

import { isJsonObject } from '../store/json.ts';
import type { Json, JsonObject } from '../store/json.ts';

/** Converts the value of a field; `undefined` is the zero value of the field. */
type Form = (value: Json | undefined) => Json;
/** Fields of a struct in the order of Go: the name in JSON, the name in Go if it is more than a capital, the form. */
type Fields = readonly (readonly [name: string, goName: string, form: Form])[];

const word: Form = (value) => (typeof value === 'string' ? value : '');
const flag: Form = (value) => value === true;
const pointer: Form = (value) => value ?? null;

function structOf(fields: () => Fields): Form {
  return (value) => {
    if (!isJsonObject(value)) return null;
    return Object.fromEntries(fields().map(([name, goName, form]) => [goName, form(value[name])]));
  };
}

function listOf(form: Form): Form {
  return (value) => (Array.isArray(value) ? value.map(form) : null);
}

const mapOf: Form = (value) => {
  if (!isJsonObject(value)) return null;
  return Object.fromEntries(
    Object.keys(value)
      .toSorted()
      .map((name) => [name, schema(value[name])]),
  );
};

const schemaOrFlag: Form = (value) => {
  if (value === undefined || value === null) return null;
  return { Allows: value !== false, Schema: schema(value) };
};

const schemaOrList: Form = (value) => {
  if (value === undefined || value === null) return null;
  return { Schema: schema(value), JSONSchemas: listOf(schema)(value) };
};

const RULE: Fields = [
  ['rule', 'Rule', word],
  ['message', 'Message', word],
  ['messageExpression', 'MessageExpression', word],
  ['reason', 'Reason', pointer],
  ['fieldPath', 'FieldPath', word],
  ['optionalOldSelf', 'OptionalOldSelf', pointer],
];

/** The fields of a schema; their Go names are also the words of a rule about the root. */
export const SCHEMA_FIELDS: Fields = [
  ['id', 'ID', word],
  ['$schema', 'Schema', word],
  ['$ref', 'Ref', pointer],
  ['description', 'Description', word],
  ['type', 'Type', word],
  ['nullable', 'Nullable', flag],
  ['format', 'Format', word],
  ['title', 'Title', word],
  ['default', 'Default', pointer],
  ['maximum', 'Maximum', pointer],
  ['exclusiveMaximum', 'ExclusiveMaximum', flag],
  ['minimum', 'Minimum', pointer],
  ['exclusiveMinimum', 'ExclusiveMinimum', flag],
  ['maxLength', 'MaxLength', pointer],
  ['minLength', 'MinLength', pointer],
  ['pattern', 'Pattern', word],
  ['maxItems', 'MaxItems', pointer],
  ['minItems', 'MinItems', pointer],
  ['uniqueItems', 'UniqueItems', flag],
  ['multipleOf', 'MultipleOf', pointer],
  ['enum', 'Enum', pointer],
  ['maxProperties', 'MaxProperties', pointer],
  ['minProperties', 'MinProperties', pointer],
  ['required', 'Required', pointer],
  ['items', 'Items', schemaOrList],
  ['allOf', 'AllOf', listOf((value) => schema(value))],
  ['oneOf', 'OneOf', listOf((value) => schema(value))],
  ['anyOf', 'AnyOf', listOf((value) => schema(value))],
  ['not', 'Not', (value) => schema(value)],
  ['properties', 'Properties', mapOf],
  ['additionalProperties', 'AdditionalProperties', schemaOrFlag],
  ['patternProperties', 'PatternProperties', mapOf],
  ['dependencies', 'Dependencies', pointer],
  ['additionalItems', 'AdditionalItems', schemaOrFlag],
  ['definitions', 'Definitions', mapOf],
  ['externalDocs', 'ExternalDocs', pointer],
  ['example', 'Example', pointer],
  ['x-kubernetes-preserve-unknown-fields', 'XPreserveUnknownFields', pointer],
  ['x-kubernetes-embedded-resource', 'XEmbeddedResource', flag],
  ['x-kubernetes-int-or-string', 'XIntOrString', flag],
  ['x-kubernetes-list-map-keys', 'XListMapKeys', pointer],
  ['x-kubernetes-list-type', 'XListType', pointer],
  ['x-kubernetes-map-type', 'XMapType', pointer],
  ['x-kubernetes-validations', 'XValidations', listOf(structOf(() => RULE))],
];

const schema: Form = structOf(() => SCHEMA_FIELDS);

const COLUMN: Fields = [
  ['name', 'Name', word],
  ['type', 'Type', word],
  ['format', 'Format', word],
  ['description', 'Description', word],
  ['priority', 'Priority', (value) => value ?? 0],
  ['jsonPath', 'JSONPath', word],
];

const SCALE: Fields = [
  ['specReplicasPath', 'SpecReplicasPath', word],
  ['statusReplicasPath', 'StatusReplicasPath', word],
  ['labelSelectorPath', 'LabelSelectorPath', pointer],
];

const SUBRESOURCES: Fields = [
  ['status', 'Status', pointer],
  ['scale', 'Scale', structOf(() => SCALE)],
];

const VERSION: Fields = [
  ['name', 'Name', word],
  ['served', 'Served', flag],
  ['storage', 'Storage', flag],
  ['deprecated', 'Deprecated', flag],
  ['deprecationWarning', 'DeprecationWarning', pointer],
  ['schema', 'Schema', structOf(() => [['openAPIV3Schema', 'OpenAPIV3Schema', schema]])],
  ['subresources', 'Subresources', structOf(() => SUBRESOURCES)],
  ['additionalPrinterColumns', 'AdditionalPrinterColumns', listOf(structOf(() => COLUMN))],
  ['selectableFields', 'SelectableFields', listOf(structOf(() => [['jsonPath', 'JSONPath', word]]))],
];

export function goVersions(versions: Json | undefined): Json {
  return listOf(structOf(() => VERSION))(versions);
}

export function goSchema(node: JsonObject): Json {
  return schema(node);
}

export function goRule(rule: JsonObject): Json {
  return structOf(() => RULE)(rule);
}
