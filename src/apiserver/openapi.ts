/**
 * The part of OpenAPI that kubectl needs. kubectl asks whether the server validates fields itself (v3), or
 * downloads the schema to validate on its own (v2, as protobuf). An empty v2 schema makes kubectl skip
 * validation; a v3 schema names the parameter.
 */

import { apiVersionOf } from './resources.ts';
import type { ResourceDefinition, ResourceTable } from './resources.ts';

export interface OpenApiDocument {
  readonly type: string;
  readonly body: Buffer;
}

const PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

export function openApi(path: string, accept: string, table: ResourceTable): OpenApiDocument | undefined {
  if (path === '/openapi/v2') {
    if (accept.includes('proto-openapi')) return { type: PROTOBUF, body: protobufDocument() };
    return json({ swagger: '2.0', info: { title: 'Kubernetes', version: 'v1' }, paths: {}, definitions: {} });
  }
  if (path === '/openapi/v3') {
    const prefixes = [...new Set(table.all().map(prefixOf))];
    const paths = Object.fromEntries(
      prefixes.map((prefix) => [prefix, { serverRelativeURL: `/openapi/v3/${prefix}` }]),
    );
    return json({ paths });
  }
  const prefix = path.startsWith('/openapi/v3/') ? path.slice('/openapi/v3/'.length) : '';
  const definitions = table.all().filter((definition) => prefixOf(definition) === prefix);
  return definitions.length === 0 ? undefined : json(groupDocument(prefix, definitions));
}

function prefixOf(definition: ResourceDefinition): string {
  return `${definition.group === '' ? 'api' : 'apis'}/${apiVersionOf(definition)}`;
}

/** Only the PATCH operation with its fieldValidation parameter, which kubectl looks for. */
function groupDocument(prefix: string, definitions: readonly ResourceDefinition[]): object {
  const parameters = [{ name: 'fieldValidation', in: 'query', schema: { type: 'string' } }];
  const responses = { 200: { description: 'OK' } };
  const paths = definitions.map((definition) => {
    const scope = definition.namespaced ? 'namespaces/{namespace}/' : '';
    const { group, version, kind } = definition;
    const patch = { parameters, responses, 'x-kubernetes-group-version-kind': { group, version, kind } };
    return [`/${prefix}/${scope}${definition.resource}/{name}`, { patch }];
  });
  return { openapi: '3.0.0', info: { title: 'Kubernetes', version: 'v1' }, paths: Object.fromEntries(paths) };
}

/** openapi.v2.Document { swagger = "2.0"; info { title, version }; paths {} } on the wire. */
function protobufDocument(): Buffer {
  const info = Buffer.concat([field(1, Buffer.from('Kubernetes')), field(2, Buffer.from('v1'))]);
  return Buffer.concat([field(1, Buffer.from('2.0')), field(2, info), field(8, Buffer.alloc(0))]);
}

/** A length-delimited protobuf field shorter than 128 bytes. */
function field(number: number, value: Buffer): Buffer {
  return Buffer.concat([Buffer.from([(number << 3) | 2, value.length]), value]);
}

function json(document: object): OpenApiDocument {
  return { type: 'application/json', body: Buffer.from(JSON.stringify(document)) };
}
