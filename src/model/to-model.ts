/** The converter for the client-node that kubeloom itself uses: the one that is installed beside it. */
import { clientNode } from '../kube/client-node.ts';
import type { Wire } from '../kube/wire.ts';
import { createModelConverter } from './converter.ts';
import type { ModelConverter, ModelOptions, WireSource } from './converter.ts';

/** Made when it is first wanted. */
let installed: ModelConverter | undefined;

/** See {@link ModelConverter.toModel}. */
export function toModel<T>(source: WireSource<T>, options?: ModelOptions): T {
  installed ??= createModelConverter(clientNode());
  return installed.toModel<T>(source, options);
}

/** See {@link ModelConverter.fromModel}. */
export function fromModel<T extends object>(model: T, options?: ModelOptions): Wire<T> {
  installed ??= createModelConverter(clientNode());
  return installed.fromModel(model, options);
}
