/**
 * The names that code within the sentences of the documentation uses without declaring them. Only their types matter:
 * `types.slow.ts` compiles that code with these names in scope, beside everything that kubeloom exports. A call of
 * neither a function of these nor a member is a call of one of the `methods`.
 */
import type { Informer, KubeConfig, ListPromise, ObjectCache, V1Pod, Watch } from '@kubernetes/client-node';
import type {
  Borrowed,
  CredentialPluginPolicy,
  FactoryOptions,
  HandlerOptions,
  HandlerRegistration,
  InformerOptions,
  Lister,
  ListerWatcher,
  ModelOptions,
  ResourceOf,
  ShutDownOptions,
  SharedIndexInformer,
  ThreadsOptions,
  Wire,
} from '../../../src/index.ts';
import type { InformersMap } from '../../../src/controller/index.ts';
import type { ReflectorOptions } from '../../../src/client-go/index.ts';
import type { Histories } from '../../sim/oracle/histories.ts';
import type { JudgeOptions } from '../../sim/oracle/judge.ts';

type Pod = Wire<V1Pod>;

/** Every object of options of the public surface. */
export type AnyOptions =
  | InformerOptions<Pod>
  | ThreadsOptions
  | FactoryOptions
  | HandlerOptions
  | ShutDownOptions
  | ModelOptions
  | ReflectorOptions;

export declare const methods: SharedIndexInformer<Pod> &
  Pick<InformersMap, 'informerFor'> &
  Informer<V1Pod> &
  ObjectCache<V1Pod> &
  Lister<Pod>;
export declare const informer: SharedIndexInformer<Pod>;
export declare const lister: Lister<Pod>;
export declare const entry: Borrowed<Pod>;
export declare const previous: Borrowed<Pod>;
export declare const current: Borrowed<Pod>;
export declare const isInInitialList: boolean;
export declare const registration: HandlerRegistration;
export declare const resource: ResourceOf<Pod>;
export declare const kubeConfig: KubeConfig;
export declare const config: KubeConfig;
export declare const policy: CredentialPluginPolicy;
export declare const clientNode: typeof import('@kubernetes/client-node');
export declare const path: string;
export declare const name: string;
export declare const namespace: string;
export declare const version: string;
export declare const selector: string;
export declare const labelSelector: string;
export declare const fieldSelector: string;
export declare const autoStart: boolean;
export declare const drain: boolean;
export declare const signal: AbortSignal;
export declare const verb: 'add' | 'update' | 'delete';
export declare const listFn: ListPromise<V1Pod>;
/** client-node's, and the function of a ListerWatcher. */
export declare const watch: Watch & ListerWatcher<Pod>['watch'];
export declare const list: ListerWatcher<Pod>['list'];
export declare const histories: Histories;
export declare const options: JudgeOptions;
export declare function f(...told: readonly unknown[]): void;
export declare function judge(histories: Histories, options: JudgeOptions): unknown;
/** Methods of client-node. */
export { ListWatch, makeInformer } from '@kubernetes/client-node';
