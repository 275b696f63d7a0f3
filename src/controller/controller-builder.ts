/** The declaration of one controller, in the shape of controller-runtime's builder. */
import { callback, wantOptions } from '../base/option-checks.ts';
import type { KindLike } from '../kube/rest-mapper.ts';
import type { Borrowed, InformersMap, KubeObject, ResourceOf } from '../index.ts';
import type { ManagedController } from './managed-controller.ts';
import { WATCH_CHECKS } from './options.ts';
import type { Reconcile, WatchOptions } from './options.ts';
import { controllerKeys } from './queueing.ts';

/** Returns the keys of a controller's kind that an object of another kind concerns. */
export type MapToKeys<T> = (object: Borrowed<T>, cache: InformersMap) => readonly string[];

/** A controller that is being declared. It is complete with `reconcile`, and runs with its manager. */
export class ControllerBuilder {
  readonly #controller: ManagedController;

  constructor(controller: ManagedController) {
    this.#controller = controller;
  }

  /**
   * Adds a kind of which the controller creates objects. A change of an object queues the owner in its metadata that has
   * `controller: true`, if that owner is of the controller's kind.
   *
   * @throws ERR_KUBELOOM_OPTION; ERR_KUBELOOM_STARTED when the manager runs
   */
  owns<T = KubeObject>(kind: ResourceOf<T> | KindLike, options: WatchOptions<T> = {}): this {
    wantOptions('options of owns', options, WATCH_CHECKS);
    const { predicate } = options as WatchOptions<KubeObject>;
    this.#controller.watch({ kind, predicate, keysFor: controllerKeys });
    return this;
  }

  /**
   * Adds another kind that matters. A change of an object queues the keys that `map` returns for it; an update, also those
   * for the previous object.
   *
   * @throws ERR_KUBELOOM_OPTION; ERR_KUBELOOM_STARTED when the manager runs
   */
  watches<T = KubeObject>(
    kind: ResourceOf<T> | KindLike,
    map: MapToKeys<T>,
    options: WatchOptions<T> = {},
  ): this {
    wantOptions('options of watches', options, WATCH_CHECKS);
    callback('map', map);
    const { predicate } = options as WatchOptions<KubeObject>;
    const mapTo = map as MapToKeys<KubeObject>;
    this.#controller.watch({ kind, predicate, keysFor: (_owner, cache) => (object) => mapTo(object, cache) });
    return this;
  }

  /**
   * Sets the function that reconciles a key, and completes the controller.
   *
   * @throws ERR_KUBELOOM_OPTION; ERR_KUBELOOM_STARTED when the manager runs
   */
  reconcile(reconcile: Reconcile): void {
    callback('reconcile', reconcile);
    this.#controller.complete(reconcile);
  }
}
