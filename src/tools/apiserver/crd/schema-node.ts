/** The part of OpenAPI v3, and of Kubernetes' additions to it, of which structural schemas are made. */

import type { Json, JsonObject } from '../store/json.ts';

/** A level of a schema. Keywords that only describe are left out. */
export interface SchemaNode extends JsonObject {
  type?: string;
  properties?: { [name: string]: SchemaNode };
  additionalProperties?: boolean | SchemaNode;
  items?: SchemaNode;
  required?: string[];
  enum?: Json[];
  nullable?: boolean;
  default?: Json;
}

export const PRESERVE = 'x-kubernetes-preserve-unknown-fields';
export const EMBEDDED = 'x-kubernetes-embedded-resource';
export const INT_OR_STRING = 'x-kubernetes-int-or-string';
export const RULES = 'x-kubernetes-validations';
export const LIST_TYPE = 'x-kubernetes-list-type';
export const LIST_KEYS = 'x-kubernetes-list-map-keys';
export const MAP_TYPE = 'x-kubernetes-map-type';
