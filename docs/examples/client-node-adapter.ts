/**
 * client-node's `makeInformer` on top of kubeloom: the same arguments, methods and events, so that a program can
 * move first and its handlers later. The differences are in ../migrating-from-client-node.md.
 *
 * To use it, copy it.
 */
import type {
  Informer,
  KubeConfig,
  KubernetesObject,
  ListPromise,
  ObjectCache,
} from '@kubernetes/client-node';
import { NAMESPACE_INDEX, SharedIndexInformer, findBuiltIn, toModel } from 'kubeloom';
import type { Identity, InformerOptions, ResourceRef, Wire } from 'kubeloom';

type Verb = 'add' | 'update' | 'delete' | 'error' | 'connect';
type Callback<T> = ((object: T) => void) & ((error?: unknown) => void);
/** The values that informers pass to handlers, tombstones included. */
type Held<T> = Identity & { readonly object: Wire<T> };

export interface CompatOptions<T> extends InformerOptions<Wire<T>> {
  /** Needed for custom resources: a path does not contain their kind. */
  readonly resource?: ResourceRef;
}

/** @param _listPromiseFn not called: kubeloom lists itself, with the selectors of its watch */
export function makeInformerCompat<T extends KubernetesObject>(
  kubeConfig: KubeConfig,
  path: string,
  _listPromiseFn?: ListPromise<T>,
  labelSelector?: string,
  options: CompatOptions<T> = {},
): Informer<T> & ObjectCache<T> {
  return new ListWatchCompat<T>(kubeConfig, path, {
    ...options,
    ...(labelSelector ? { labelSelector } : {}),
  });
}

class ListWatchCompat<T extends KubernetesObject> implements Informer<T>, ObjectCache<T> {
  readonly #make: () => SharedIndexInformer<Wire<T>>;
  readonly #isBuiltIn: boolean;
  readonly #callbacks: Record<Verb, Callback<T>[]> = {
    add: [],
    update: [],
    delete: [],
    error: [],
    connect: [],
  };
  /** One model for each state of an object, as long as it is cached. */
  readonly #models: WeakMap<Held<T>, T> = new WeakMap();
  #informer: SharedIndexInformer<Wire<T>> | undefined;

  constructor(kubeConfig: KubeConfig, path: string, { resource: own, ...options }: CompatOptions<T>) {
    const [, group = '', version = '', namespace, resource = ''] =
      /^\/(?:api|apis\/([^/]+))\/([^/]+)(?:\/namespaces\/([^/]+))?\/([^/]+)$/.exec(path) ?? [];
    const builtIn = findBuiltIn({ group, version, resource });
    const ref = own ?? builtIn;
    if (!ref) throw new TypeError(`${path} is no built-in resource: say which with { resource }`);
    this.#isBuiltIn = builtIn !== undefined;
    const onError = (error: Error): void => this.#tellError(error);
    this.#make = () =>
      new SharedIndexInformer<Wire<T>>(kubeConfig, ref, {
        onError,
        ...options,
        ...(namespace ? { namespace } : {}),
      });
  }

  /** Resolves when everything is cached; not before, as client-node does when the list fails. */
  async start(): Promise<void> {
    if (this.#informer?.isStopped() === false) return this.#informer.waitForSync();
    const informer = this.#make();
    this.#informer = informer;
    informer.addEventHandler({
      onAdd: (added) => this.#tell('add', this.#modelOf(added)),
      onUpdate: (previous, current) => {
        if (previous.resourceVersion !== current.resourceVersion)
          this.#tell('update', this.#modelOf(current));
      },
      onDelete: (deleted) => this.#tell('delete', this.#modelOf(deleted)),
    });
    informer.onHealth(({ type }) => type === 'recovered' && this.#tell('connect'));
    informer.run().catch((error: unknown) => this.#tellError(error));
    await informer.waitForSync();
    this.#tell('connect');
  }

  async stop(): Promise<void> {
    await this.#informer?.shutdown();
  }

  on(verb: Verb | 'change', callback: Callback<T>): void {
    for (const one of verbsOf(verb)) this.#callbacks[one].push(callback);
  }

  off(verb: Verb | 'change', callback: Callback<T>): void {
    for (const one of verbsOf(verb)) {
      const index = this.#callbacks[one].indexOf(callback);
      if (index !== -1) this.#callbacks[one].splice(index, 1);
    }
  }

  get(name: string, namespace?: string): T | undefined {
    const entry = this.#informer?.getStore().getByKey(namespace ? `${namespace}/${name}` : name);
    return entry && this.#modelOf(entry);
  }

  list(namespace?: string): readonly T[] {
    const indexer = this.#informer?.getIndexer();
    const entries = namespace ? indexer?.byIndex(NAMESPACE_INDEX, namespace) : indexer?.list();
    return (entries ?? []).map((entry) => this.#modelOf(entry));
  }

  #modelOf(held: Held<T>): T {
    const known = this.#models.get(held);
    if (known) return known;
    // A custom resource has no model: it stays the JSON of the wire, as in client-node.
    const model = this.#isBuiltIn
      ? toModel<T>(held, { onUnknownField: 'ignore' })
      : (structuredClone(held.object) as unknown as T);
    this.#models.set(held, model);
    return model;
  }

  #tell(verb: Verb, argument?: unknown): void {
    for (const callback of this.#callbacks[verb].slice()) callback(argument as T);
  }

  /** Reports an error. The informer still runs, so a `start()` in the callback does nothing. */
  #tellError(error: unknown): void {
    if (this.#callbacks.error.length > 0) this.#tell('error', error);
    else process.emitWarning(error instanceof Error ? error : String(error));
  }
}

function verbsOf(verb: Verb | 'change'): readonly Verb[] {
  return verb === 'change' ? ['add', 'update', 'delete'] : [verb];
}
