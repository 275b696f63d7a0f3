/** A controller in its manager: fills its caches, then turns changes into keys and reconciles them. */
import type { Clock } from '../base/clock.ts';
import { KubeloomError, assert } from '../base/errors.ts';
import type { KindLike } from '../kube/rest-mapper.ts';
import { PriorityQueue, runWorkers, waitFor } from '../index.ts';
import type {
  HandlerRegistration,
  InformerHandle,
  InformersMap,
  KubeObject,
  ReconcileResult,
  ResourceRef,
} from '../index.ts';
import type { ObjectClient } from './object-client.ts';
import type { ControllerOptions, Reconcile } from './options.ts';
import type { Predicate } from './predicates.ts';
import { queueingHandler } from './queueing.ts';
import type { KeysOf } from './queueing.ts';

/** A kind whose changes queue keys. The builder has the types of its objects. */
export interface Source {
  readonly kind: KindLike;
  readonly predicate: Predicate<KubeObject> | undefined;
  /** @param owner kind of the controller */
  readonly keysFor: (owner: ResourceRef, cache: InformersMap) => KeysOf<KubeObject>;
}

export interface ControllerParts {
  readonly cache: InformersMap;
  readonly client: ObjectClient;
  readonly clock: Clock;
}

type Followed = readonly (readonly [Source, InformerHandle<KubeObject>])[];

type State =
  | { readonly kind: 'declared'; readonly reconcile: Reconcile | undefined }
  | { readonly kind: 'started'; readonly reconcile: Reconcile };

export class ManagedController {
  readonly name: string;
  readonly needsLeadership: boolean;
  readonly #options: ControllerOptions<KubeObject>;
  readonly #parts: ControllerParts;
  readonly #sources: Source[];
  #state: State = { kind: 'declared', reconcile: undefined };
  #followed: Followed = [];
  readonly #inWork: Set<string> = new Set();

  constructor(kind: KindLike, name: string, options: ControllerOptions<KubeObject>, parts: ControllerParts) {
    this.name = name;
    this.needsLeadership = options.needsLeadership ?? true;
    this.#options = options;
    this.#parts = parts;
    this.#sources = [
      {
        kind,
        predicate: options.predicate,
        keysFor:
          () =>
          ({ key }) => [key],
      },
    ];
  }

  /** Keys that are being reconciled. */
  get inWork(): readonly string[] {
    return [...this.#inWork];
  }

  watch(source: Source): void {
    this.#wantDeclared();
    this.#sources.push(source);
  }

  complete(reconcile: Reconcile): void {
    this.#wantDeclared();
    this.#state = { kind: 'declared', reconcile };
  }

  /** Ends the declaration. @throws ERR_KUBELOOM_OPTION when `reconcile` is missing */
  start(): void {
    const { reconcile } = this.#state;
    if (!reconcile) {
      const message = `controller ${this.name} has no function: call reconcile() of its declaration`;
      throw new KubeloomError('ERR_KUBELOOM_OPTION', message);
    }
    this.#state = { kind: 'started', reconcile };
  }

  /**
   * Starts the informers of all its kinds, and resolves when their caches are filled.
   *
   * @throws NotSyncedError when the signal is aborted first; the errors of `informerFor`
   */
  async fill(signal: AbortSignal): Promise<void> {
    const { cache } = this.#parts;
    this.#followed = await Promise.all(
      this.#sources.map(
        async (source) => [source, await cache.informerFor(source.kind, { signal })] as const,
      ),
    );
  }

  /**
   * Queues all objects, at low priority, and reconciles until the signal is aborted. Resolves when the reconciliations in
   * progress have ended.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#parts;
    const { concurrency = 1, rateLimiter, onError } = this.#options;
    const limited = rateLimiter ? { rateLimiter } : {};
    const queue = new PriorityQueue<string>({ name: this.name, clock, ...limited });
    const registrations = this.#followed.map(([source, handle]) => this.#register(source, handle, queue));
    try {
      const initialLists = registrations.map(({ registration }) => registration.hasSyncedChecker);
      await waitFor(`controller ${this.name}`, { signal, clock }, ...initialLists);
      const options = { signal, clock, ...(onError ? { onError } : {}) };
      await runWorkers(queue, concurrency, (key) => this.#reconcile(key, signal), options);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      queue.shutDown();
      await Promise.all(
        registrations.map(({ handle, registration }) => handle.removeEventHandler(registration)),
      );
    }
  }

  #register(
    { predicate, keysFor }: Source,
    handle: InformerHandle<KubeObject>,
    queue: PriorityQueue<string>,
  ): { readonly handle: InformerHandle<KubeObject>; readonly registration: HandlerRegistration } {
    const [own] = this.#followed;
    assert(own !== undefined, 'the caches are filled before the controller runs');
    const handler = queueingHandler(queue, keysFor(own[1].resource, this.#parts.cache), predicate);
    return { handle, registration: handle.addEventHandler(handler, { name: `controller ${this.name}` }) };
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult> {
    assert(this.#state.kind === 'started', 'a controller runs after its start');
    const { cache, client } = this.#parts;
    this.#inWork.add(key);
    try {
      return await this.#state.reconcile(key, { cache, client, signal });
    } finally {
      this.#inWork.delete(key);
    }
  }

  #wantDeclared(): void {
    if (this.#state.kind === 'declared') return;
    throw new KubeloomError('ERR_KUBELOOM_STARTED', `controller ${this.name} has started: declare it before`);
  }
}
