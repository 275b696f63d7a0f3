/**
 * Both majors of client-node: the models, and the serialiser that their API methods use. The whole of 2.x does
 * not load on Node 20; these modules of it do, and the conversion depends only on them.
 */
import * as installed from '@kubernetes/client-node';
import { ObjectSerializer as Serializer1 } from '@kubernetes/client-node/dist/gen/models/ObjectSerializer.js';
import * as models2 from 'client-node-2/dist/gen/models/all.js';
import { ObjectSerializer as Serializer2 } from 'client-node-2/dist/gen/models/ObjectSerializer.js';
import { V1MicroTime as MicroTime2 } from 'client-node-2/dist/types.js';

export interface AttributeType {
  readonly name: string;
  readonly baseName: string;
  readonly type: string;
  readonly format: string;
}

export interface Major {
  readonly name: string;
  readonly clientNode: object;
  /** Returns the attributes of a model; undefined for any other name. */
  attributes(model: string): readonly AttributeType[] | undefined;
  /** Returns the body of a request, as API methods write it. */
  body(model: object, type: string): string;
  /** Parses the body of a response, as API methods do. */
  read(wire: unknown, type: string): object;
}

interface Serializer {
  serialize(data: unknown, type: string, format: string): unknown;
  deserialize(data: unknown, type: string, format: string): unknown;
  stringify(data: unknown, mediaType: string): string;
}

function major(name: string, clientNode: object, serializer: Serializer): Major {
  const classes = clientNode as Readonly<
    Record<string, { getAttributeTypeMap?: () => readonly AttributeType[] } | undefined>
  >;
  return {
    name,
    clientNode,
    attributes: (model) => classes[model]?.getAttributeTypeMap?.(),
    body: (model, type) => serializer.stringify(serializer.serialize(model, type, ''), 'application/json'),
    read: (wire, type) => serializer.deserialize(wire, type, '') as object,
  };
}

export const MAJORS: readonly Major[] = [
  major('client-node 1.4', installed, Serializer1),
  major('client-node 2', { ...models2, V1MicroTime: MicroTime2 }, Serializer2),
];
