/**
 * The built-in kinds as a real kube-apiserver describes them: `kubernetes.json`, which `npm run suite -- shapes` writes from
 * OpenAPI, discovery and the tags of the Go sources.
 */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { parseJson } from '../../../base/parse-json.ts';
import type { SchemaNode } from '../crd/schema-node.ts';
import type { Json, JsonObject } from '../store/json.ts';
import type { Column } from '../store/column.ts';

/** A value that the server assigns to an absent member: always, or if a sibling has a text of the list. */
export interface Assigned extends JsonObject {
  value: Json;
  /** True if only the struct in `spec` of an object gets the value, not the struct in a template. */
  top?: boolean;
  sibling?: string;
  texts?: string[];
}

/** A level of a shape: OpenAPI, references by short names such as `apps.v1.DeploymentSpec`, and the tags of Go. */
export interface ShapeNode extends SchemaNode {
  $ref?: string;
  properties?: { [name: string]: ShapeNode };
  additionalProperties?: boolean | ShapeNode;
  items?: ShapeNode;
  /** Type in Go, as the source of the struct writes it: `*int32`, `metav1.ObjectMeta`. */
  go?: string;
  /** True if Go leaves out the zero value. */
  omitempty?: boolean;
  /** Number of the field in protobuf. */
  number?: number;
  /** Numbers of properties that protobuf keeps in an embedded message, by the number of that message. */
  inline?: { [number: string]: { [property: string]: number } };
  /** Words of the refusals of an object without the value. */
  absent?: string[];
  /** Words of the refusals of wrong values, without the value. */
  refused?: string[];
  assigned?: Assigned;
  /** Member by which the items of a list differ; '' for items that are scalars. */
  unique?: string;
}

/** The refusal of a change below a path. The words name fields that may change. */
export interface Frozen {
  readonly field: string;
  readonly words: string;
}

/** A resource in the discovery of a real server. */
export interface DiscoveredResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly singular: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** Verbs by the name of the subresource. */
  readonly subresources?: Readonly<Record<string, readonly string[]>>;
  readonly frozen?: readonly Frozen[];
  readonly columns?: readonly Column[];
}

/** Texts about fields that every object has, and about the columns of them. */
export type Descriptions = Readonly<Record<'Name' | 'Age' | 'apiVersion' | 'kind' | 'metadata', string>>;

interface Table {
  /** Version of Kubernetes: `v1.36.3`. */
  readonly version: string;
  readonly resources: readonly DiscoveredResource[];
  readonly shapes: Readonly<Record<string, ShapeNode>>;
  readonly descriptions: Descriptions;
}

let loaded: Table | undefined;

/** Returns the table, which the first call reads. */
export function builtInKinds(): Table {
  if (loaded !== undefined) return loaded;
  const root = dirname(createRequire(import.meta.url).resolve('kubeloom/package.json'));
  const path = join(root, 'src/tools/apiserver/shapes/kubernetes.json');
  loaded = parseJson(readFileSync(path, 'utf8')) as Table;
  return loaded;
}

const OPEN: ShapeNode = {};

/** Returns the shape of a kind; undefined for a kind that is not built in. */
export function shapeOf(group: string, version: string, kind: string): ShapeNode | undefined {
  const [prefix = ''] = group.split('.');
  const name = `${prefix === '' ? 'core' : prefix}.${version}.${kind}`;
  return builtInKinds().shapes[name] && { $ref: name };
}

/** Returns the node that a reference names; the node itself if it is not a reference. */
export function resolved(node: ShapeNode): ShapeNode {
  const { $ref: name } = node;
  if (name === undefined) return node;
  return builtInKinds().shapes[name] ?? OPEN;
}
