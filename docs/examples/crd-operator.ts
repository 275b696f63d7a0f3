/**
 * Operator: each Bucket becomes a bucket of a storage service outside the cluster. A finalizer keeps a deleted Bucket until
 * its storage is gone, and a condition in the status says how far the operator is. First:
 * kubectl apply -f docs/examples/bucket-crd.yaml; then create, change and delete a Bucket. Ends with Ctrl-C.
 *
 * In Go: an operator of Kubebuilder, with controllerutil.AddFinalizer and meta.SetStatusCondition.
 */
import { loadKubeConfig } from 'kubeloom';
import type { KubeObject, ResourceOf } from 'kubeloom';
import {
  Manager,
  addFinalizer,
  generationChanged,
  patchCondition,
  removeFinalizer,
} from 'kubeloom/controller';
import type { Condition } from 'kubeloom/controller';

interface Bucket extends KubeObject {
  readonly spec: { readonly gibibytes: number };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

const FINALIZER = 'storage.example.com/bucket';
const POLL_INTERVAL_MS = 100;
const buckets: ResourceOf<Bucket> = {
  group: 'storage.example.com',
  version: 'v1',
  resource: 'buckets',
  kind: 'Bucket',
  isNamespaced: true,
};

/** A storage service, whose buckets take a moment to become what was asked for. */
class Storage {
  readonly #gibibytes: Map<string, number> = new Map();

  /** Asks for a bucket of this size; returns whether it exists. A second call with the same size changes nothing. */
  ensure(name: string, gibibytes: number): boolean {
    const exists = this.#gibibytes.get(name) === gibibytes;
    this.#gibibytes.set(name, gibibytes);
    return exists;
  }

  delete(name: string): void {
    this.#gibibytes.delete(name);
  }
}

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort());

const storage = new Storage();
const manager = new Manager(loadKubeConfig(), { onReady: () => console.log('Waiting for Buckets') });

manager
  // Writes to the status do not come back as changes. A deletion changes the generation, too.
  .controllerFor(buckets, { predicate: generationChanged })
  .reconcile(async (key, { cache, client, signal }) => {
    const cached = cache.get(buckets, key);
    if (!cached) return console.log(`${key}: gone`);
    if (cached.metadata.deletionTimestamp) {
      storage.delete(key);
      console.log(`${key}: deleted its storage`);
      // Only now does the server delete the object.
      await removeFinalizer(client, buckets, cached, FINALIZER, { signal });
      return;
    }
    // Before there is any storage: otherwise an early deletion would leave it behind.
    const changed = await addFinalizer(client, buckets, cached, FINALIZER, { signal });
    const bucket = changed ?? cached;

    const { gibibytes } = bucket.spec;
    const isReady = storage.ensure(key, gibibytes);
    const status = isReady ? 'True' : 'False';
    const reason = isReady ? 'Available' : 'Pending';
    const observedGeneration = bucket.metadata?.generation ?? 0;
    const ready = { type: 'Ready', status, reason, message: `${gibibytes} GiB`, observedGeneration } as const;
    if (await patchCondition(client, buckets, bucket, ready, { signal }))
      console.log(`${key}: Ready is ${status}, ${gibibytes} GiB`);
    // The service sends no events: look again later.
    return isReady ? undefined : { requeueAfterMs: POLL_INTERVAL_MS };
  });

await manager.run({ signal: stop.signal });
