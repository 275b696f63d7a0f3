/**
 * The types of the built-in kinds by the names of client-node's models. In the package this file declares them itself
 * (test/package/models.ts), so that a program needs no client-node for its types.
 */
import type * as clientNode from '@kubernetes/client-node';
import type { Wire } from './wire-form.ts';

type Models = typeof clientNode;

/** The model as it is on the wire; never for a name without a model. */
export type ModelNamed<Name extends string> = Name extends keyof Models
  ? Models[Name] extends abstract new (...given: never) => infer Model
    ? Wire<Model>
    : never
  : never;

export type ObjectMeta = Wire<clientNode.V1ObjectMeta>;
