/** A lock in memory, which notes the calls and fails or holds up those that a test names. */
import { KubeloomError } from '../../../../src/base/errors.ts';
import type { LeaderElectionRecord, ResourceLock, StoredRecord } from '../../../../src/controller/index.ts';

type Operation = 'get' | 'create' | 'update';

/** The record that several locks share. */
export class MemoryLease {
  stored: StoredRecord | undefined;
  #version = 0;

  write(read: unknown, record: LeaderElectionRecord): StoredRecord {
    if (read !== this.stored?.source) throw conflict();
    this.stored = { record, source: ++this.#version };
    return this.stored;
  }
}

export class MemoryLock implements ResourceLock {
  readonly identity: string;
  readonly calls: Operation[] = [];
  /** Called before each operation, which waits for it; `number` counts the calls of its kind. */
  before: (operation: Operation, number: number) => void | Promise<void> = () => undefined;
  readonly #lease: MemoryLease;

  constructor(lease: MemoryLease, identity: string) {
    this.#lease = lease;
    this.identity = identity;
  }

  describe(): string {
    return 'default/memory';
  }

  async get(): Promise<StoredRecord | undefined> {
    await this.#called('get');
    return this.#lease.stored;
  }

  async create(record: LeaderElectionRecord): Promise<StoredRecord> {
    await this.#called('create');
    return this.#lease.write(undefined, record);
  }

  async update({ source }: StoredRecord, record: LeaderElectionRecord): Promise<StoredRecord> {
    await this.#called('update');
    return this.#lease.write(source, record);
  }

  async #called(operation: Operation): Promise<void> {
    this.calls.push(operation);
    await this.before(operation, this.calls.filter((called) => called === operation).length);
  }
}

export function conflict(): KubeloomError {
  return new KubeloomError('ERR_KUBELOOM_CONFLICT', 'it has changed since it was read');
}
