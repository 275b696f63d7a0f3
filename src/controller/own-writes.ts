/**
 * The writes of a reconciliation, and the wait until the caches contain them: the next reconciliation of the key must
 * not repeat them.
 */
import type { Clock } from '../base/clock.ts';
import { sleep } from '../base/sleep.ts';
import { outcomeOf, retryAfterMs } from '../kube/retry.ts';
import { LinkedController } from '../shared/fence.ts';
import type { KubeObject, ResourceRef } from '../index.ts';
import type { InformerHandle } from '../informer/map/informer-handle.ts';
import type { ObjectClient } from './object-client.ts';

/** A write with the server's answer. */
type Written = readonly [resource: ResourceRef, answer: KubeObject];
/** A write whose outcome is unknown. */
type Unconfirmed = readonly [resource: ResourceRef, namespace: string];

/** A write usually arrives within milliseconds; without an event of its own, with the next bookmark. */
const ARRIVAL_MAX_MS = 10_000;
/** A watch receives a bookmark every minute, so a cache reaches every version within this time. */
const LOOK_MAX_MS = 90_000;
const LOOK_AGAIN_MS = 1000;

/** @internal */
export class OwnWrites {
  /** The client of the reconciliation. */
  readonly client: ObjectClient;
  readonly #handles: readonly InformerHandle<KubeObject>[];
  readonly #clock: Clock;
  readonly #written: Written[] = [];
  readonly #unconfirmed: Unconfirmed[] = [];

  /** @param handles caches of the kinds that count */
  constructor(client: ObjectClient, handles: readonly InformerHandle<KubeObject>[], clock: Clock) {
    this.client = client.observed(
      (resource, answer) => this.#written.push([resource, answer]),
      (resource, namespace) => this.#unconfirmed.push([resource, namespace]),
    );
    this.#handles = handles;
    this.#clock = clock;
  }

  get isEmpty(): boolean {
    return this.#written.length === 0 && this.#unconfirmed.length === 0;
  }

  /**
   * Resolves when the caches contain the writes, or after the time limit: a cache with a selector may never receive a
   * write.
   *
   * @param signal ends the wait
   */
  async arrived(signal: AbortSignal): Promise<void> {
    await Promise.all([
      this.#within(ARRIVAL_MAX_MS, signal, (until) => this.#confirmedArrived(until)),
      ...this.#unconfirmed.map((each) =>
        this.#within(LOOK_MAX_MS, signal, (until) => this.#looked(each, until)),
      ),
    ]);
  }

  async #confirmedArrived(signal: AbortSignal): Promise<void> {
    const waits = this.#written.map(async ([resource, answer]) => {
      if (answer.metadata?.resourceVersion) await this.#handleOf(resource)?.waitForWrite(answer, { signal });
    });
    await Promise.allSettled(waits);
  }

  /** Waits for the server's present version: at that version the cache contains any change that the write made. */
  async #looked([resource, namespace]: Unconfirmed, signal: AbortSignal): Promise<void> {
    const handle = this.#handleOf(resource);
    if (!handle) return;
    const resourceVersion = await this.#presentVersion(handle.resource, namespace, signal);
    await handle.waitForWrite({ metadata: { namespace, resourceVersion } }, { signal });
  }

  async #presentVersion(resource: ResourceRef, namespace: string, signal: AbortSignal): Promise<string> {
    for (;;) {
      try {
        return await this.client.versionOf(resource, namespace, signal);
      } catch (error) {
        if (outcomeOf(error) !== 'repeat') throw error;
        await sleep(Math.max(LOOK_AGAIN_MS, retryAfterMs(error)), signal, this.#clock);
      }
    }
  }

  /**
   * Waits for at most this time. A failed wait also ends: the next reconciliation begins with the caches as they are.
   */
  async #within(
    timeMs: number,
    signal: AbortSignal,
    wait: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    using over = new LinkedController(signal);
    const cancel = this.#clock.schedule(timeMs, () => over.abort());
    try {
      await wait(over.signal);
    } catch {
      // The time limit, a stop of the controller, or a list that the server refused.
    } finally {
      cancel();
    }
  }

  /** Returns the cache of a collection, in whatever version. */
  #handleOf({ group, resource }: ResourceRef): InformerHandle<KubeObject> | undefined {
    return this.#handles.find(
      (handle) => handle.resource.group === group && handle.resource.resource === resource,
    );
  }
}
