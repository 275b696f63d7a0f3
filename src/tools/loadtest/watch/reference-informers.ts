/**
 * The reference informers: an informer of the main process for each kind, which is not judged. They receive the
 * revisions of deletions, which the server's answers omit, and the changes of other writers.
 */
import type { AnyKubeConfig } from '../../../kube/server-source.ts';
import { InformerThreads, SharedIndexInformer } from '../../../index.ts';
import type { ObjectKind } from '../workload/workload.ts';
import { RUN_LABEL, resourceOf } from '../write/kinds.ts';
import type { RunPlace } from '../write/kinds.ts';
import { RecordingHandler } from './recording-handler.ts';
import type { Notification } from './recording-handler.ts';
import { waitUntilDelivered } from './wait-until-delivered.ts';

export class ReferenceInformers implements AsyncDisposable {
  readonly #threads = new InformerThreads({ indexerThreads: 0 });
  readonly #informers = new Map<ObjectKind, { informer: SharedIndexInformer; handler: RecordingHandler }>();

  /** Resolves when the informers watch. Call it before the first write of the run. */
  async start(
    kubeConfig: AnyKubeConfig,
    kinds: readonly ObjectKind[],
    { run, namespaces }: RunPlace,
    onError: (error: Error) => void,
    signal: AbortSignal,
  ): Promise<void> {
    for (const kind of kinds) {
      const handler = new RecordingHandler('reference');
      const informer = new SharedIndexInformer<unknown>(kubeConfig, resourceOf(kind, run), {
        ...(namespaces.length === 1 && namespaces[0] ? { namespace: namespaces[0] } : {}),
        labelSelector: `${RUN_LABEL}=${run}`,
        view: 'metadata',
        threads: this.#threads,
        onError,
      });
      informer.addEventHandler(handler);
      this.#informers.set(kind, { informer, handler });
      // A failure of the run also reaches waitForSync.
      informer.run().catch(() => undefined);
      await informer.waitForSync({ signal });
    }
  }

  notifications(kind: ObjectKind): readonly Notification[] {
    return [...(this.#informers.get(kind)?.handler.history ?? [])];
  }

  /** Resolves after as many deletions of each kind, or after too long a time without notifications. */
  async waitUntilDelivered(deletions: ReadonlyMap<ObjectKind, number>, signal: AbortSignal): Promise<void> {
    const received = (): number => {
      let sum = 0;
      for (const { handler } of this.#informers.values()) sum += handler.history.length;
      return sum;
    };
    const isBehind = ([kind, count]: readonly [ObjectKind, number]): boolean => {
      let left = count;
      for (const each of this.#informers.get(kind)?.handler.history ?? [])
        if (each.kind === 'DELETED') left--;
      return left > 0;
    };
    await waitUntilDelivered(() => [...deletions].some(isBehind), received, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { informer } of this.#informers.values()) await informer[Symbol.asyncDispose]();
    await this.#threads[Symbol.asyncDispose]();
  }
}
