/**
 * How a reflector that ended is replaced. All that it had committed is merged first; then its successor goes on
 * where the replicas are: it watches from the last version in them, and what was in the middle of a list begins that
 * anew. Sequences continue. Nothing else of the dead one counts: see `voidRecords` for the rings; of the log, nothing
 * is read after its record is merged, so that a successor may write anywhere.
 */
import type { Processor } from '../processor/processor.ts';
import type { Attachment, Attachments } from './attachment.ts';
import type { Backend } from './backend.ts';
import type { PipelineWords } from './layout.ts';
import type { ListWatchFeed } from './list-watch-feed.ts';
import type { Supervised } from './supervisor.ts';

export interface ReflectorRecoveryOptions {
  readonly backend: Backend;
  readonly processor: Processor;
  readonly words: PipelineWords;
  readonly shards: number;
  readonly attachments: Attachments;
  readonly feedOf: (informer: number, attachment: Attachment) => ListWatchFeed | undefined;
  /** The successor was started. */
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
    // Nobody reads what the user's functions have to say; they are asked again.
    for (const { feed } of attachments.values()) feed?.close();
    await backend.end(this.role);
    // It may have died between `committed` and the bells.
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

  seed(): boolean {
    return false;
  }
}
