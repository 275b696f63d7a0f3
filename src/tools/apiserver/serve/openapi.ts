/**
 * The OpenAPI documents: of version 3, a document for each group and version, from which kubectl explains kinds and learns how it
 * may patch them. Schemas of built-in kinds have no descriptions; custom kinds have those of their definitions.
 */

import { isJsonObject, memberOf } from '../store/json.ts';
import type { Json, JsonObject } from '../store/json.ts';
import { apiVersionOf } from '../store/resources.ts';
import type { ResourceTable, ServedResource } from '../store/resources.ts';
import { builtInKinds, shapeOf } from '../shapes/shapes.ts';
import { patchTypesOf } from '../write/patch.ts';
import { verbsOf } from './listed-verbs.ts';

const INFO: JsonObject = { title: 'Kubernetes', version: 'v1' };
const REFERENCE = '#/components/schemas/';
const OBJECT_META = 'meta.v1.ObjectMeta';
/** Keywords of shapes that OpenAPI has, besides the extensions of Kubernetes. */
const KEYWORDS: ReadonlySet<string> = new Set(['default', 'enum', 'format', 'oneOf', 'required', 'type']);

/** Returns the document at a path; undefined for a path without a document. */
export function openApiDocument(path: string, table: ResourceTable): JsonObject | undefined {
  if (path === '/openapi/v2') return { swagger: '2.0', info: INFO, paths: {}, definitions: {} };
  if (path === '/openapi/v3') {
    const prefixes = [...new Set(table.all().map(prefixOf))];
    const paths = prefixes.map((prefix) => [prefix, { serverRelativeURL: `/openapi/v3/${prefix}` }]);
    return { paths: Object.fromEntries(paths) as JsonObject };
  }
  const prefix = path.startsWith('/openapi/v3/') ? path.slice('/openapi/v3/'.length) : '';
  const definitions = table.all().filter((definition) => prefixOf(definition) === prefix);
  return definitions.length === 0 ? undefined : groupDocument(prefix, definitions);
}

function prefixOf(definition: ServedResource): string {
  return `${definition.group === '' ? 'api' : 'apis'}/${apiVersionOf(definition)}`;
}

function groupDocument(prefix: string, definitions: readonly ServedResource[]): JsonObject {
  const schemas: JsonObject = {};
  for (const definition of definitions) addKind(schemas, definition);
  const paths = Object.fromEntries(definitions.map((definition) => pathOf(prefix, definition)));
  return { openapi: '3.0.0', info: INFO, paths, components: { schemas } };
}

function kindOf({ group, version, kind }: ServedResource): JsonObject {
  return { group, version, kind };
}

/** Returns the path of an object with the operations from which kubectl learns the kind and the patches. */
function pathOf(prefix: string, definition: ServedResource): [path: string, operations: JsonObject] {
  const scope = definition.namespaced ? 'namespaces/{namespace}/' : '';
  const operation = {
    responses: { 200: { description: 'OK' } },
    'x-kubernetes-group-version-kind': kindOf(definition),
  };
  const types = patchTypesOf(definition).map((type) => [type, {}]);
  const patch = {
    ...operation,
    parameters: [{ name: 'fieldValidation', in: 'query', schema: { type: 'string' } }],
    requestBody: { content: Object.fromEntries(types) as JsonObject },
  };
  const path = `/${prefix}/${scope}${definition.resource}`;
  if (!verbsOf(definition).includes('patch')) return [path, { post: operation }];
  return [`${path}/{name}`, { get: operation, patch }];
}

function addKind(schemas: JsonObject, definition: ServedResource): void {
  const { group, version, kind, document } = definition;
  const name = shapeOf(group, version, kind)?.$ref ?? `${group}.${version}.${kind}`;
  if (document !== undefined || definition.custom === true) {
    addShape(schemas, OBJECT_META);
    schemas[name] = customSchema(document ?? { type: 'object' });
  } else addShape(schemas, name);
  const schema = schemas[name];
  if (isJsonObject(schema)) schema['x-kubernetes-group-version-kind'] = [kindOf(definition)];
}

/** Adds the fields of every object to the schema of a definition. */
function customSchema(document: JsonObject): JsonObject {
  const { apiVersion, kind, metadata } = builtInKinds().descriptions;
  const own = document['properties'];
  const properties: JsonObject = {
    ...(isJsonObject(own) ? own : {}),
    apiVersion: { type: 'string', description: apiVersion },
    kind: { type: 'string', description: kind },
    metadata: { description: metadata, allOf: [{ $ref: `${REFERENCE}${OBJECT_META}` }] },
  };
  return { ...document, properties };
}

/** Adds a schema of the table of shapes, and every schema that it refers to. */
function addShape(schemas: JsonObject, name: string): void {
  if (schemas[name] !== undefined) return;
  const shape = builtInKinds().shapes[name];
  if (shape === undefined) return;
  schemas[name] = {};
  schemas[name] = schemaOf(shape, (reference) => addShape(schemas, reference));
}

function schemaOf(node: JsonObject, refer: (name: string) => void): JsonObject {
  const schema: JsonObject = {};
  for (const [keyword, value] of Object.entries(node)) {
    if (keyword === '$ref' && typeof value === 'string') {
      refer(value);
      schema['allOf'] = [{ $ref: `${REFERENCE}${value}` }];
    } else if (keyword === 'properties') schema[keyword] = eachSchema(value, refer);
    else if (keyword === 'items' || keyword === 'additionalProperties')
      schema[keyword] = isJsonObject(value) ? schemaOf(value, refer) : value;
    else if (KEYWORDS.has(keyword) || keyword.startsWith('x-kubernetes-')) schema[keyword] = value;
  }
  return schema;
}

function eachSchema(properties: Json | undefined, refer: (name: string) => void): JsonObject {
  const names = Object.keys(isJsonObject(properties) ? properties : {});
  const schemas = names.map((name) => {
    const node = memberOf(properties, name);
    return [name, isJsonObject(node) ? schemaOf(node, refer) : {}];
  });
  return Object.fromEntries(schemas) as JsonObject;
}
