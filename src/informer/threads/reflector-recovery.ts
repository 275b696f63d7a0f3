/**
 * Replacement of a reflector that ended. The main thread first merges all that it had committed. The successor then
 * watches from the last version in the replicas, and begins an unfinished list anew. Sequences continue. Other records
 * of the old reflector are discarded in the rings (`discardRecords`). No bytes in the log are read after their record
 * is merged, so the successor may write anywhere in it.
 */
import type { Processor } from '../../replica/merge/processor.ts';
import type { AttachmentTable } from './attachments.ts';
import type { Backend, Role } from './backend.ts';
import type { HashKey } from '../../shared/record/key-hash.ts';
import type { PipelineWords } from '../../shared/layout.ts';
import type { Supervised } from './supervisor.ts';

export interface RecoveryParts {
  readonly backend: Backend;
  readonly processor: Processor;
  readonly words: PipelineWords;
  readonly shards: number;
  readonly hashKey: HashKey;
  readonly attachments: AttachmentTable;
  readonly succeeded: (role: Role) => void;
}

export class ReflectorRecovery implements Supervised {
  readonly role = 'reflector';
  /** A reflector inherits nothing and begins at once. */
  readonly hasResumed = true;
  readonly isSeeded = true;
  readonly #parts: RecoveryParts;

  constructor(parts: RecoveryParts) {
    this.#parts = parts;
  }

  async end(): Promise<void> {
    const { backend, attachments, words, shards } = this.#parts;
    // No thread would read the answers of the user's functions; the successor asks again.
    for (const { feed } of attachments.values()) feed?.close();
    await backend.end(this.role);
    // The reflector may have died after it wrote `committed` and before it rang the bells.
    for (let shard = 0; shard < shards; shard++) words.shard(shard).bell.ring();
  }

  isDrained(): boolean {
    const { processor, words } = this.#parts;
    return processor.merged === words.committed.load();
  }

  unfinished(): undefined {
    return undefined;
  }

  seed(): false {
    return false;
  }

  replace(): void {
    const { backend, attachments, succeeded } = this.#parts;
    backend.succeed(this.role);
    succeeded(this.role);
    for (const [informer, { client, isStarted, detached }] of attachments) {
      if (!isStarted) continue;
      attachments.started(informer);
      const resume = { ...client.merge.position, isStopping: detached !== undefined };
      backend.toReflector({ type: 'start', informer, spec: client.reflectorSpec, resume });
    }
  }
}
