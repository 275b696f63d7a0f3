/**
 * `kubeloom/client-node`: client-node with informers that kubeloom runs. To use it, change only the name in your
 * import. All other exports come from the installed @kubernetes/client-node.
 */
export * from '@kubernetes/client-node';
export { ListWatch, makeInformer } from './list-watch.ts';
export { ListWatchError } from './list-watch-error.ts';
export type { ListWatchOptions } from './list-watch.ts';

// Between client-node's models and the objects of the wire.
export { fromModel, toModel } from '../kube/model/converter.ts';
