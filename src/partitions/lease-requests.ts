/**
 * The requests of a member for the Leases of partitions, and for the heartbeats of other members. The outcome of each
 * request is an event.
 */
import type { Clock } from '../base/clock.ts';
import { KubeloomError, withCode } from '../base/errors.ts';
import { recordOf } from '../controller/leader-election/lease-calls.ts';
import type {
  LeaderElectionRecord,
  ResourceLock,
  StoredRecord,
} from '../controller/leader-election/resource-lock.ts';
import { leaseOf } from './heartbeat.ts';
import type { MemberEffect, MemberEvent, MemberRules } from './member-state.ts';

interface LeaseRequestsParts {
  readonly group: string;
  readonly rules: MemberRules;
  readonly lockOf: (leaseName: string) => ResourceLock;
  readonly onError: (error: KubeloomError) => void;
  readonly clock: Clock;
}

type Request = Extract<MemberEffect, { readonly type: 'claim' | 'restore' | 'release' | 'depose' }>;

/** Selects the Leases of a group. */
export const GROUP_LABEL = 'kubeloom.dev/partition-group';

/** Codes of requests that lost a race or found the result in place; these are not reported. */
const EXPECTED: ReadonlySet<unknown> = new Set([
  'ERR_KUBELOOM_CONFLICT',
  'ERR_KUBELOOM_ALREADY_EXISTS',
  'ERR_KUBELOOM_NOT_FOUND',
]);

/** @internal */
export class LeaseRequests {
  readonly #parts: LeaseRequestsParts;
  readonly #happened: (event: MemberEvent) => void;

  constructor(parts: LeaseRequestsParts, happened: (event: MemberEvent) => void) {
    this.#parts = parts;
    this.#happened = happened;
  }

  send(request: Request): void {
    const { group, lockOf } = this.#parts;
    if (request.type === 'depose') {
      const { id, heartbeat } = request;
      const note = JSON.stringify({ ...heartbeat.note, isOver: true });
      const record = { ...this.#record('', heartbeat.stored?.record.leaseTransitions ?? 0), note };
      return void this.#call(
        (signal) => write(lockOf(memberLease(group, id)), heartbeat.stored, record, signal),
        ({ lease }) => ({ type: 'saw-heartbeat', id, stored: lease }),
        () => undefined,
      );
    }
    const { partition, stored } = request;
    const lock = lockOf(partitionLease(group, partition));
    if (request.type === 'release') {
      const record = this.#record('', request.stored.record.leaseTransitions);
      return void this.#call(
        (signal) => lock.update(request.stored, record, signal),
        (released) => ({ type: 'released', partition, stored: released }),
        (code) =>
          code === 'ERR_KUBELOOM_NOT_FOUND'
            ? { type: 'released', partition, stored: undefined }
            : { type: 'refused', partition, isMissing: false },
      );
    }
    const { id, epoch } = request;
    const record = this.#record(id, epoch);
    const claim = async (signal: AbortSignal): Promise<StoredRecord | undefined> => {
      const { isWritten, lease } = await write(lock, stored, record, signal);
      if (isWritten || !lease) return lease;
      if (!stored) this.#checkLabel(partition, lease);
      const isOwn = lease.record.holderIdentity === id && lease.record.leaseTransitions === epoch;
      // The watch does not show the member's own Lease without the label, which an update writes.
      return isOwn ? lock.update(lease, record, signal) : lease;
    };
    return void this.#call(
      claim,
      (lease) =>
        lease
          ? { type: 'claimed', partition, id, stored: lease }
          : { type: 'refused', partition, isMissing: true },
      () => ({ type: 'refused', partition, isMissing: false }),
    );
  }

  #checkLabel(partition: number, { source }: StoredRecord): void {
    const { group, onError } = this.#parts;
    if (leaseOf(source).metadata?.labels?.[GROUP_LABEL] === group) return;
    const message =
      `lease ${partitionLease(group, partition)} exists without the label ${GROUP_LABEL}=${group}, by which members find it: ` +
      'its owner writes the label; let no other program use Leases of this name';
    onError(new KubeloomError('ERR_KUBELOOM_ALREADY_EXISTS', message));
  }

  #record(holderIdentity: string, leaseTransitions: number): LeaderElectionRecord {
    const leaseDurationSeconds = Math.ceil(this.#parts.rules.leaseDurationMs / 1000);
    return recordOf({ holderIdentity, leaseDurationSeconds, leaseTransitions, acquireTime: '' });
  }

  /**
   * Sends a request. A request without a response after half of the deadline is given up, and may still take effect.
   */
  async #call<T>(
    send: (signal: AbortSignal) => Promise<T>,
    answered: (answer: T) => MemberEvent,
    failed: (code: unknown) => MemberEvent | undefined,
  ): Promise<void> {
    const { clock, rules, onError } = this.#parts;
    const limitMs = rules.renewDeadlineMs / 2;
    const call = new AbortController();
    let cancel = (): void => undefined;
    const limit = new Promise<never>((_, reject) => {
      cancel = clock.schedule(limitMs, () => {
        const message = `request for a lease: no answer within ${Math.round(limitMs)} ms; it is tried again`;
        reject(new KubeloomError('ERR_KUBELOOM_STALLED', message));
        call.abort();
      });
    });
    let event: MemberEvent | undefined;
    try {
      event = answered(await Promise.race([send(call.signal), limit]));
    } catch (error) {
      const code = codeOf(error);
      if (!EXPECTED.has(code)) onError(withCode(error));
      event = failed(code);
    } finally {
      cancel();
    }
    if (event) this.#happened(event);
  }
}

/** Writes a record in place of a version. Returns the server's present state if another write came before. */
async function write(
  lock: ResourceLock,
  stored: StoredRecord | undefined,
  record: LeaderElectionRecord,
  signal: AbortSignal,
): Promise<{ readonly isWritten: boolean; readonly lease: StoredRecord | undefined }> {
  try {
    const lease = await (stored ? lock.update(stored, record, signal) : lock.create(record, signal));
    return { isWritten: true, lease };
  } catch (error) {
    if (!EXPECTED.has(codeOf(error))) throw error;
    return { isWritten: false, lease: await lock.get(signal) };
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** @internal */
export function partitionLease(group: string, partition: number): string {
  return `${group}-partition-${String(partition).padStart(2, '0')}`;
}

/** @internal */
export function memberLease(group: string, life: string): string {
  return `${group}-member-${life}`;
}
