/**
 * Replacement of a reflector that ended. The main thread first merges all that it had committed. The successor then
 * watches from the last version in the replicas, and begins an unfinished list anew. Sequences continue. Other records
 * of the old reflector are discarded in the rings (`discardRecords`). No bytes in the log are read after their record
 * is merged, so the successor may write anywhere in it.
 */
import type { SequenceMerger } from '../../replica/merge/sequence-merger.ts';
import type { Attachment, Attachments } from './attachments.ts';
import type { Backend } from './backend.ts';
import type { PipelineWords } from '../../shared/layout.ts';
import type { ListWatchFeed } from './list-watch-feed.ts';
import type { Supervised } from './supervisor.ts';

export interface ReflectorRecoveryOptions {
  readonly backend: Backend;
  readonly processor: SequenceMerger;
  readonly words: PipelineWords;
  readonly shards: number;
  readonly attachments: Attachments;
  readonly feedOf: (informer: number, attachment: Attachment) => ListWatchFeed | undefined;
  /** Called when the successor was started. */
  readonly succeeded: () => void;
}

export class ReflectorRecovery implements Supervised {
  readonly role = 'reflector';
  readonly #options: ReflectorRecoveryOptions;

  constructor(options: ReflectorRecoveryOptions) {
    this.#options = options;
  }

  heartbeat(): number | undefined {
    return this.#options.backend.heartbeat(this.role);
  }

  async end(): Promise<void> {
    const { backend, attachments, words, shards } = this.#options;
    // No thread would read the answers of the user's functions; the successor asks again.
    for (const { feed } of attachments.values()) feed?.close();
    await backend.end(this.role);
    // The reflector may have died after it wrote `committed` and before it rang the bells.
    for (let shard = 0; shard < shards; shard++) words.shard(shard).bell.ring();
  }

  isDrained(): boolean {
    const { processor, words } = this.#options;
    return processor.merged === words.committed.load();
  }

  unfinished(): undefined {
    return undefined;
  }

  replace(): void {
    const { backend, attachments, feedOf, succeeded } = this.#options;
    backend.succeed(this.role);
    succeeded();
    for (const [informer, attachment] of attachments) {
      if (!attachment.isStarted) continue;
      const { client, detached } = attachment;
      attachment.feed = feedOf(informer, attachment);
      const resume = { ...client.merge.position, isStopping: detached !== undefined };
      backend.toReflector({ type: 'start', informer, spec: client.reflectorSpec, resume });
    }
  }

  /** True: a reflector inherits nothing and begins at once. */
  get hasResumed(): boolean {
    return true;
  }

  seed(): boolean {
    return false;
  }
}
