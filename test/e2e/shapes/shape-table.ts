/**
 * The table of the built-in kinds that the embedded apiserver serves (`src/tools/apiserver/shapes/kubernetes.json`), made from the
 * documents of a real kube-apiserver: OpenAPI v3 gives the shapes, aggregated discovery the resources, the Go sources the tags of
 * fields. `npm run suite -- shapes` writes it, and a test of `e2e` compares it with the server.
 */

import type {
  Descriptions,
  DiscoveredResource as ResourceRow,
  ShapeNode,
} from '../../../src/tools/apiserver/shapes/shapes.ts';
import type { GoStruct } from './go-structs.ts';

type Node = unknown;

/** A document of `/openapi/v3`, as far as the table needs it. */
export interface OpenApiDocument {
  readonly components?: { readonly schemas?: Readonly<Record<string, Node>> };
}

interface DiscoveredSubresource {
  readonly subresource: string;
  readonly verbs: readonly string[];
}

interface DiscoveredResource {
  readonly resource: string;
  readonly responseKind: { readonly kind: string };
  readonly scope: string;
  readonly singularResource: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly subresources?: readonly DiscoveredSubresource[];
}

/** An answer of aggregated discovery, version 2. */
export interface DiscoveryDocument {
  readonly items: readonly {
    readonly metadata: { readonly name?: string };
    readonly versions: readonly {
      readonly version: string;
      readonly resources: readonly DiscoveredResource[];
    }[];
  }[];
}

const REFERENCE = '#/components/schemas/';

/** Returns the last two or three parts of a name: `apps.v1.DeploymentSpec` of `io.k8s.api.apps.v1.DeploymentSpec`. */
function shortName(name: string): string {
  return name.split('.').slice(-3).join('.');
}

/** Returns a schema without descriptions, and with references by short names in place of `allOf`. */
function compact(node: Node): Node {
  if (Array.isArray(node)) return node.map(compact);
  if (typeof node !== 'object' || node === null) return node;
  const entries = Object.entries(node).flatMap(([name, value]): [string, Node][] => {
    if (name === 'description' && typeof value === 'string') return [];
    if (name === '$ref' && typeof value === 'string')
      return [[name, shortName(value.slice(REFERENCE.length))]];
    if (name === 'allOf' && Array.isArray(value) && value.length === 1)
      return Object.entries(compact(value[0]) as object);
    if (name === 'properties')
      return [
        [
          name,
          Object.fromEntries(Object.entries(value as object).map(([key, each]) => [key, compact(each)])),
        ],
      ];
    return [[name, compact(value)]];
  });
  return Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** The tags of Go by the names of structs in the table. */
export type GoStructs = ReadonlyMap<string, GoStruct>;

/** Returns the struct of a field's type, as another struct of the package `prefix` refers to it. */
function structOf(structs: GoStructs, prefix: string, go: string): GoStruct | undefined {
  const [name = '', from] = go.replace(/^\*/, '').split('.').toReversed();
  const version = /^(.*?)(v\d\w*)$/.exec(from ?? '');
  if (from === undefined) return structs.get(`${prefix}.${name}`);
  return structs.get(`${version?.[1] === '' ? 'core' : (version?.[1] ?? '')}.${version?.[2] ?? ''}.${name}`);
}

/** Returns the properties of a shape with the tags of their fields; only fields of the struct itself have a number. */
function tagged(
  properties: Record<string, object>,
  name: string,
  structs: GoStructs,
): Record<string, object> {
  const prefix = name.slice(0, name.lastIndexOf('.'));
  const tagsOf = (struct: GoStruct | undefined, field: string): object => {
    const own = struct?.fields.get(field);
    if (own !== undefined) return own;
    for (const { go } of struct?.inline ?? []) {
      const { number: _, ...tags } = tagsOf(structOf(structs, prefix, go), field) as { number?: number };
      if (Object.keys(tags).length > 0) return tags;
    }
    return {};
  };
  return Object.fromEntries(
    Object.entries(properties).map(([field, node]) => [
      field,
      { ...node, ...tagsOf(structs.get(name), field) },
    ]),
  );
}

function withTags(node: Record<string, Node>, name: string, structs: GoStructs): Record<string, Node> {
  const { properties } = node;
  if (typeof properties !== 'object' || properties === null) return node;
  const prefix = name.slice(0, name.lastIndexOf('.'));
  const inline = (structs.get(name)?.inline ?? []).flatMap(({ number, go }): [string, object][] => {
    const fields = structOf(structs, prefix, go)?.fields ?? new Map<string, { readonly number?: number }>();
    const numbers = Array.from(fields).map(([field, tags]) => [field, tags.number] as const);
    return number === undefined ? [] : [[String(number), Object.fromEntries(numbers)]];
  });
  return {
    ...node,
    properties: tagged(properties as Record<string, object>, name, structs),
    ...(inline.length === 0 ? {} : { inline: Object.fromEntries(inline) }),
  };
}

function resourcesOf(discovery: readonly DiscoveryDocument[]): ResourceRow[] {
  const found = discovery
    .flatMap(({ items }) => items)
    .flatMap(({ metadata, versions }) =>
      versions.flatMap(({ version, resources }) =>
        resources.map((resource) => ({ group: metadata.name ?? '', version, resource })),
      ),
    );
  return found.map(({ group, version, resource: each }) => ({
    group,
    version,
    resource: each.resource,
    kind: each.responseKind.kind,
    namespaced: each.scope === 'Namespaced',
    singular: each.singularResource,
    verbs: each.verbs,
    ...(each.shortNames === undefined ? {} : { shortNames: each.shortNames }),
    ...(each.categories === undefined ? {} : { categories: each.categories }),
    ...(each.subresources === undefined
      ? {}
      : {
          subresources: Object.fromEntries(each.subresources.map((part) => [part.subresource, part.verbs])),
        }),
  }));
}

function textOf(entries: readonly string[]): string {
  return entries.map((entry) => `  ${entry}`).join(',\n');
}

export interface ShapeTable {
  readonly version: string;
  readonly resources: readonly ResourceRow[];
  readonly shapes: Readonly<Record<string, ShapeNode>>;
  readonly descriptions?: Descriptions;
}

/**
 * Returns the table, sorted by names.
 * @throws Error if two schemas that are not the same share a short name
 */
export function shapeTable(
  version: string,
  documents: readonly OpenApiDocument[],
  discovery: readonly DiscoveryDocument[],
  structs: GoStructs,
): ShapeTable {
  const shapes = new Map<string, string>();
  const names = new Map<string, string>();
  for (const { components } of documents) {
    for (const [name, schema] of Object.entries(components?.schemas ?? {})) {
      const short = shortName(name);
      if (names.has(short) && names.get(short) !== name)
        throw new Error(`${name} and ${names.get(short) ?? ''} share the short name ${short}`);
      names.set(short, name);
      const { 'x-kubernetes-group-version-kind': _, ...node } = compact(schema) as Record<string, Node>;
      const text = JSON.stringify(withTags(node, short, structs));
      if (shapes.has(short) && shapes.get(short) !== text)
        throw new Error(`two schemas have the name ${name}`);
      shapes.set(short, text);
    }
  }
  const sorted = [...shapes].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const resources = resourcesOf(discovery).toSorted((one, other) =>
    JSON.stringify(one) < JSON.stringify(other) ? -1 : 1,
  );
  const parsed = sorted.map(([name, text]) => [name, JSON.parse(text) as ShapeNode] as const);
  return { version, resources, shapes: Object.fromEntries(parsed) };
}

/** Returns the text of the table, an entry a line, so that a new version of Kubernetes is a readable difference. */
export function textOfTable({ version, resources, shapes, descriptions }: ShapeTable): string {
  const entries = Object.entries(shapes);
  const lines = entries.map(([name, shape]) => `${JSON.stringify(name)}: ${JSON.stringify(shape)}`);
  return `{
"version": ${JSON.stringify(version)},
${descriptions === undefined ? '' : `"descriptions": ${JSON.stringify(descriptions)},\n`}"resources": [
${textOf(resources.map((each) => JSON.stringify(each)))}
],
"shapes": {
${textOf(lines)}
}
}
`;
}
