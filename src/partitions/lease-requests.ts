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
import type { Heartbeat } from './heartbeat.ts';
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
const EXPECTED: ReadonlySet<string> = new Set([
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
      const lock = lockOf(memberLease(group, id));
      return void this.#call(
        (signal) => deposed(lock, heartbeat, signal),
        (stored) => ({ type: 'saw-heartbeat', id, stored }),
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
    let found: StoredRecord | undefined;
    const claim = async (signal: AbortSignal): Promise<StoredRecord> => {
      try {
        return await (stored ? lock.update(stored, record, signal) : lock.create(record, signal));
      } catch (error) {
        if (!EXPECTED.has(withCode(error).code)) throw error;
        found = await lock.get(signal);
        if (found && !stored) this.#checkLabel(partition, found);
        const { holderIdentity, leaseTransitions } = found?.record ?? {};
        // The member's own Lease: the watch does not show it without the label, which an update writes.
        if (!found || holderIdentity !== id || leaseTransitions !== epoch) throw error;
        return lock.update(found, record, signal);
      }
    };
    return void this.#call(
      claim,
      (claimed) => ({ type: 'claimed', partition, id, stored: claimed }),
      (code) => ({
        type: 'refused',
        partition,
        isMissing: code === 'ERR_KUBELOOM_NOT_FOUND',
        stored: found,
      }),
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
    failed: (code: string) => MemberEvent | undefined,
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
      const known = withCode(error);
      if (!EXPECTED.has(known.code)) onError(known);
      event = failed(known.code);
    } finally {
      cancel();
    }
    if (event) this.#happened(event);
  }
}

/** Empties the heartbeat in its version. Returns the server's present state if another write came before. */
async function deposed(
  lock: ResourceLock,
  { stored, note }: Heartbeat,
  signal: AbortSignal,
): Promise<StoredRecord | undefined> {
  const { leaseTransitions = 0, acquireTime = '' } = stored?.record ?? {};
  const draft = { holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions, acquireTime };
  const record = recordOf({ ...draft, note: JSON.stringify({ ...note, isOver: true }) });
  try {
    return await (stored ? lock.update(stored, record, signal) : lock.create(record, signal));
  } catch (error) {
    if (!EXPECTED.has(withCode(error).code)) throw error;
    return lock.get(signal);
  }
}

/** @internal */
export function partitionLease(group: string, partition: number): string {
  return `${group}-partition-${String(partition).padStart(2, '0')}`;
}

/** @internal */
export function memberLease(group: string, life: string): string {
  return `${group}-member-${life}`;
}
