/** A lock on a Lease of coordination.k8s.io/v1, as client-go's LeaseLock. */
import { resources } from '../../index.ts';
import type { WireOf } from '../../index.ts';
import type { ObjectClient } from '../object-client.ts';
import type { LeaderElectionRecord, ResourceLock, StoredRecord } from './resource-lock.ts';

type Lease = WireOf<'coordination', 'v1', 'Lease'>;

const { leases } = resources.coordination.v1;

const NOTE = 'kubeloom.dev/note';

export interface LeaseLockOptions {
  readonly client: ObjectClient;
  readonly namespace: string;
  readonly name: string;
  readonly identity: string;
  /** Labels of the lease, written with each record. */
  readonly labels?: Readonly<Record<string, string>>;
}

export class LeaseLock implements ResourceLock {
  readonly identity: string;
  readonly #client: ObjectClient;
  readonly #key: { readonly namespace: string; readonly name: string };
  readonly #labels: Readonly<Record<string, string>>;

  constructor({ client, namespace, name, identity, labels = {} }: LeaseLockOptions) {
    this.identity = identity;
    this.#labels = labels;
    this.#client = client;
    this.#key = { namespace, name };
  }

  describe(): string {
    return `${this.#key.namespace}/${this.#key.name}`;
  }

  async get(signal: AbortSignal): Promise<StoredRecord | undefined> {
    try {
      return storedOf(await this.#client.get(leases, this.#key, { signal }));
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ERR_KUBELOOM_NOT_FOUND')
        return undefined;
      throw error;
    }
  }

  async create(record: LeaderElectionRecord, signal: AbortSignal): Promise<StoredRecord> {
    const { note, ...spec } = record;
    const lease: Lease = { metadata: this.#metadata(this.#key, note), spec };
    return storedOf(await this.#client.create(leases, lease, { signal }));
  }

  /** Replaces the Lease in the version that was read. Other labels, and fields outside the record, stay. */
  async update(
    { source }: StoredRecord,
    record: LeaderElectionRecord,
    signal: AbortSignal,
  ): Promise<StoredRecord> {
    const lease = source as Lease;
    const { note, ...written } = record;
    const spec = { ...lease.spec, ...written };
    const metadata = this.#metadata(lease.metadata, note);
    return storedOf(await this.#client.update(leases, { ...lease, metadata, spec }, { signal }));
  }

  #metadata(metadata: Lease['metadata'], note: string | undefined): NonNullable<Lease['metadata']> {
    const labels = { ...metadata?.labels, ...this.#labels };
    if (note === undefined) return { ...metadata, labels };
    return { ...metadata, labels, annotations: { ...metadata?.annotations, [NOTE]: note } };
  }
}

/** Returns the record of a lease. */
export function storedOf(lease: Lease): StoredRecord {
  const { spec = {}, metadata } = lease;
  const note = metadata?.annotations?.[NOTE];
  const record = {
    holderIdentity: spec.holderIdentity ?? '',
    leaseDurationSeconds: spec.leaseDurationSeconds ?? 0,
    acquireTime: spec.acquireTime ?? '',
    renewTime: spec.renewTime ?? '',
    leaseTransitions: spec.leaseTransitions ?? 0,
    ...(note === undefined ? {} : { note }),
  };
  return { record, source: lease };
}
