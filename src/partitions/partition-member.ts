/**
 * A member of a group: carries out the effects of the rules. An election renews the member's heartbeat Lease; the
 * member writes the Lease of a partition when the owner changes. Members agree on preferred owners without talking to
 * each other.
 */
import { callGuarded } from '../base/callbacks.ts';
import type { Clock, Random } from '../base/clock.ts';
import { KubeloomError, withCode } from '../base/errors.ts';
import { onAbort } from '../base/on-abort.ts';
import { Election } from '../controller/leader-election/election.ts';
import type { Failure } from '../controller/leader-election/election-state.ts';
import { step } from '../controller/leader-election/election-step.ts';
import type { ResourceLock, StoredRecord } from '../controller/leader-election/resource-lock.ts';
import { dueMs } from './decide.ts';
import { LeaseRequests, memberLease, partitionLease } from './lease-requests.ts';
import { newMember } from './member-state.ts';
import type {
  MemberEffect,
  MemberEvent,
  MemberRules,
  MemberState,
  Partition,
  Phase,
} from './member-state.ts';
import { memberStep } from './member-step.ts';
import { noteOf } from './member-turn.ts';
import { Work } from './tenure.ts';
import type { WorkOnPartition } from './tenure.ts';

/** @internal */
export interface PartitionMemberParts {
  readonly group: string;
  readonly identity: string;
  readonly rules: MemberRules;
  readonly lockOf: (leaseName: string) => ResourceLock;
  readonly work: WorkOnPartition;
  /** Deletes the heartbeat of a gone life, unless the version changed. */
  readonly forget: (leaseName: string, version: string) => void;
  readonly onChanged: (partition: number, before: Phase, after: Phase) => void;
  readonly onError: (error: KubeloomError) => void;
  /** Called once, when the member takes part and the claimed partitions are active. */
  readonly onReady?: () => void;
  /** Time after the stop for work that does not end. */
  readonly shutdownTimeoutMs: number;
  readonly clock: Clock;
  readonly random: Random;
  /** The rules; tests replace them by wrong rules. */
  readonly step?: typeof memberStep;
  readonly electionStep?: typeof step;
}

/** @internal */
export class PartitionMember {
  readonly #parts: PartitionMemberParts;
  readonly #incarnation: string;
  readonly #indexes: ReadonlyMap<string, number>;
  readonly #requests: LeaseRequests;
  readonly #works: Map<number, Work> = new Map();
  /** Aborted when all partitions are handed over: the heartbeat ends. */
  readonly #end = new AbortController();
  readonly #outcome: Promise<void>;
  #resolve: () => void = () => undefined;
  #reject: (error: KubeloomError) => void = () => undefined;
  #election: Election | undefined;
  /** Ends with the present life. */
  #fence: AbortSignal | undefined;
  /** Ends the present life. */
  #over = new AbortController();
  #state: MemberState;
  #cancelTimer: () => void = () => undefined;
  #cancelLimit: () => void = () => undefined;
  /** Failure of a work that can never begin: the run ends with it. */
  #mistake: Failure | undefined;
  #isReady = false;

  constructor(parts: PartitionMemberParts) {
    this.#parts = parts;
    const { rules, clock, random, group } = parts;
    this.#incarnation = Math.floor(random() * 36 ** 6).toString(36);
    this.#indexes = new Map(
      Array.from({ length: rules.partitionCount }, (_, index) => [partitionLease(group, index), index]),
    );
    this.#state = newMember(rules, clock.now());
    this.#requests = new LeaseRequests(parts, (event) => this.#happened(event));
    this.#outcome = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** States of the partitions now. */
  get states(): readonly Phase[] {
    return this.partitions.map(({ phase }) => phase);
  }

  /** States of the partitions now, with the known state of their Leases. */
  get partitions(): readonly Partition[] {
    this.#check();
    return this.#state.partitions;
  }

  /** Preferred owners of the partitions: lives, as this member sees the group. */
  get owners(): readonly (string | undefined)[] {
    return this.#state.owners ?? [];
  }

  /**
   * Receives the newest record of a Lease of the group; undefined after a deletion. The first list must be received
   * before `run`: a member that does not see the others claims all partitions.
   */
  see(leaseName: string, stored: StoredRecord | undefined): void {
    const partition = this.#indexes.get(leaseName);
    if (partition !== undefined) return this.#happened({ type: 'saw-lease', partition, stored });
    const prefix = memberLease(this.#parts.group, '');
    if (!leaseName.startsWith(prefix)) return undefined;
    return this.#happened({ type: 'saw-heartbeat', id: leaseName.slice(prefix.length), stored });
  }

  /**
   * Takes part in the group until the signal is aborted, or until a work can never begin, and hands over all partitions
   * after that. May be called once.
   *
   * @throws ERR_KUBELOOM_STILL_RUNNING when work did not end in time after the stop, ERR_KUBELOOM_OPTION when an older
   *   member divides keys differently, and the error of a work that can never begin
   */
  async run(signal: AbortSignal): Promise<void> {
    const lives = this.#live();
    const unlisten = onAbort(signal, () => this.#happened({ type: 'leave' }));
    try {
      await this.#outcome;
    } catch (error) {
      for (const work of this.#works.values()) work.abort(withCode(error));
      if (!this.#mistake) throw error;
      this.#parts.onError(withCode(error));
    } finally {
      unlisten();
      this.#cancelLimit();
      this.#end.abort();
      this.#cancelTimer();
      await lives;
    }
    if (this.#mistake) throw this.#mistake.error;
  }

  /**
   * Runs life after life, each with a new heartbeat and a new name. A life that does not begin before the deadline is
   * given up: other members may have seen the first request, and take the life for gone after a lease duration.
   */
  async #live(): Promise<void> {
    const { group, identity, rules, lockOf, clock, random, onError, electionStep = step } = this.#parts;
    for (let life = 1; !this.#end.signal.aborted; life++) {
      const id = `${identity}.${this.#incarnation}.${life}`;
      const election = new Election(
        {
          lock: withNote(lockOf(memberLease(group, id)), () => this.#note),
          rules: { ...rules, identity: id, releaseOnCancel: true },
          clock,
          random,
          onNewLeader: () => undefined,
          onError,
          step: electionStep,
        },
        (signal, fence) => this.#lead(id, signal, fence),
      );
      this.#election = election;
      const over = (this.#over = new AbortController());
      const unlisten = onAbort(this.#end.signal, () => over.abort());
      const cancel = clock.schedule(rules.renewDeadlineMs, () => {
        if (!election.isLeading) over.abort();
      });
      // A life that is over is reported, and followed by the next life.
      await election.run(over.signal).catch((error: unknown) => onError(withCode(error)));
      cancel();
      unlisten();
    }
  }

  async #lead(id: string, signal: AbortSignal, fence: AbortSignal): Promise<void> {
    this.#fence = fence;
    this.#happened({ type: 'lived', id });
    await new Promise<void>((resolve) => {
      onAbort(signal, () => {
        if (!this.#end.signal.aborted) this.#happened({ type: 'died' });
        resolve();
      });
    });
  }

  get #note(): string {
    const isOver = this.#end.signal.aborted && this.#works.size === 0;
    return JSON.stringify(noteOf(this.#state, this.#parts.rules, isOver));
  }

  #check(): void {
    // Reading `isLeading` aborts the signal of the work if the election's time is over.
    void this.#election?.isLeading;
  }

  #happened(event: MemberEvent): void {
    const { clock, rules, onChanged, shutdownTimeoutMs } = this.#parts;
    const before = this.#state;
    const untilMs = this.#election?.untilMs ?? -Infinity;
    const moment = { nowMs: clock.now(), untilMs, wallTime: new Date().toISOString() };
    const { state, effects } = (this.#parts.step ?? memberStep)(before, event, moment, rules);
    this.#state = state;
    if (state.isLeaving && !before.isLeaving && !this.#end.signal.aborted)
      this.#cancelLimit = clock.schedule(shutdownTimeoutMs, () => this.#giveUp());
    for (const effect of effects) if (effect.type !== 'renew') this.#perform(effect);
    if (effects.some(({ type }) => type === 'renew')) this.#election?.renew();
    // The renewal of a heartbeat can only delay the next tick, so the timer may stay: it may be early.
    const id = event.type === 'saw-heartbeat' ? event.id : '';
    const isRenewal = (state.peers.get(id)?.dueMs ?? -1) >= (before.peers.get(id)?.dueMs ?? Infinity);
    const isSame = state.partitions === before.partitions && state.owners === before.owners;
    if (!isRenewal || !isSame || effects.length > 0) this.#schedule();
    this.#reportReady();
    if (state.partitions === before.partitions) return;
    for (const [index, { phase }] of state.partitions.entries()) {
      const { phase: earlier } = before.partitions[index] ?? { phase };
      if (earlier.kind !== phase.kind) onChanged(index, earlier, phase);
    }
  }

  #reportReady(): void {
    const { clock, onReady = () => undefined, onError } = this.#parts;
    const { life, isLeaving, partitions, owners } = this.#state;
    if (this.#isReady || isLeaving || life.kind !== 'alive' || !life.seen) return;
    const nowMs = clock.now();
    if (nowMs < life.seen.settledMs) return;
    const isPending = ({ phase, cannotTake }: Partition, index: number): boolean =>
      cannotTake !== undefined ||
      phase.kind === 'claiming' ||
      phase.kind === 'syncing' ||
      (phase.kind === 'other' && nowMs < phase.notBeforeMs && owners?.[index] === life.id);
    if (partitions.some(isPending)) return;
    this.#isReady = true;
    callGuarded('onReady', onReady, onError);
  }

  #schedule(): void {
    const { clock, rules } = this.#parts;
    this.#cancelTimer();
    const due = dueMs(this.#state, rules);
    if (due === undefined || this.#end.signal.aborted) return;
    const delayMs = Math.max(0, Math.ceil(due - clock.now()));
    this.#cancelTimer = clock.schedule(delayMs, () => this.#happened({ type: 'tick' }));
  }

  #perform(effect: Exclude<MemberEffect, { readonly type: 'renew' }>): void {
    const { group, forget, onError } = this.#parts;
    switch (effect.type) {
      case 'claim':
      case 'restore':
      case 'release':
      case 'depose':
        return this.#requests.send(effect);
      case 'start-work':
        return this.#start(effect.partition, effect.epoch);
      case 'end-work':
        return this.#endWork(effect.partition, effect.why);
      case 'still-running':
        return onError(this.#stillRunning([effect.partition], 'another member may own it from now on'));
      case 'failed':
        return onError(this.#failed(effect.partition, effect.failure, effect.pauseMs));
      case 'give-up':
        this.#mistake = effect.failure;
        return undefined;
      case 'end-life':
        return this.#over.abort();
      case 'forget':
        return forget(memberLease(group, effect.id), effect.version);
      case 'twin':
        return onError(this.#twin(effect.id));
      case 'refuse':
        return this.#refuse(effect.id, effect.division);
      default:
        return this.#ended();
    }
  }

  #start(partition: number, epoch: number): void {
    const fence = this.#fence ?? AbortSignal.abort();
    const work = new Work(partition, epoch, this.#parts.work, fence, {
      synced: () => {
        if (this.#works.get(partition) === work) this.#happened({ type: 'synced', partition });
      },
      worked: (failure) => this.#worked(partition, failure),
    });
    this.#works.set(partition, work);
  }

  #worked(partition: number, failure: Failure | undefined): void {
    this.#works.delete(partition);
    const { kind } = this.#state.partitions[partition]?.phase ?? {};
    this.#happened({ type: 'worked', partition, failure });
    // After a loss, the rules do not report the failure.
    if (kind === 'aborted' && failure) this.#parts.onError(withCode(failure.error));
    if (this.#end.signal.aborted && this.#works.size === 0) this.#resolve();
  }

  #endWork(partition: number, why: 'drain' | 'overdue' | 'lost'): void {
    const work = this.#works.get(partition);
    if (!work) return;
    if (why === 'drain') return work.drain();
    const { rules, group, onError } = this.#parts;
    const name = partitionLease(group, partition);
    const error =
      why === 'lost'
        ? new KubeloomError(
            'ERR_KUBELOOM_LEADER_LOST',
            `${name}: the partition is lost: the heartbeat could not be renewed in time, or another member owns the partition; its work is aborted`,
          )
        : this.#stillRunning(
            [partition],
            `it was to end within ${rules.drainTimeoutMs} ms (drainTimeoutMs), and is aborted`,
          );
    work.abort(error);
    onError(error);
  }

  #failed(partition: number, { error }: Failure, pauseMs: number | undefined): KubeloomError {
    const { code, message } = withCode(error);
    const next =
      pauseMs === undefined ? '' : `; the partition is given back for ${Math.round(pauseMs)} ms or longer`;
    const name = partitionLease(this.#parts.group, partition);
    return new KubeloomError(code, `${name}: the work failed: ${message}${next}`, { cause: error });
  }

  #stillRunning(partitions: readonly number[], consequence: string): KubeloomError {
    const names = partitions.map((partition) => partitionLease(this.#parts.group, partition)).join(', ');
    const message = `${names}: the work has not ended: ${consequence}; let it end when the signal is aborted`;
    return new KubeloomError('ERR_KUBELOOM_STILL_RUNNING', message);
  }

  #twin(id: string): KubeloomError {
    const { group, identity } = this.#parts;
    const message =
      `lease ${memberLease(group, id)} is renewed by another process with the identity ${identity}, and only the process that began last gets partitions: ` +
      'give each process an identity of its own';
    return new KubeloomError('ERR_KUBELOOM_OPTION', message);
  }

  #refuse(id: string, division: string): void {
    const { rules, group } = this.#parts;
    const message =
      `lease ${memberLease(group, id)} belongs to a member that divides keys by ${division}, this member by ${rules.division}: ` +
      'stop all members before you change the number of partitions or the key';
    this.#reject(new KubeloomError('ERR_KUBELOOM_OPTION', message));
  }

  #ended(): void {
    this.#end.abort();
    if (this.#works.size === 0) this.#resolve();
  }

  /**
   * Ends the wait for work. Partitions that are not released are free a lease later: the heartbeat is not over, because
   * works run.
   */
  #giveUp(): void {
    const { shutdownTimeoutMs } = this.#parts;
    const why = `the stop was ${shutdownTimeoutMs} ms ago (shutdownTimeoutMs)`;
    this.#reject(this.#stillRunning([...this.#works.keys()], why));
  }
}

/**
 * Returns a lock that writes a fresh note into each record. An emptied record is read as the record of another holder:
 * the life is over, because other members may have emptied it.
 */
function withNote(lock: ResourceLock, note: () => string): ResourceLock {
  return {
    identity: lock.identity,
    describe: lock.describe.bind(lock),
    get: async (signal) => {
      const stored = await lock.get(signal);
      if (!stored || stored.record.holderIdentity !== '') return stored;
      return { ...stored, record: { ...stored.record, holderIdentity: 'nobody' } };
    },
    create: (record, signal) => lock.create({ ...record, note: note() }, signal),
    update: (stored, record, signal) => lock.update(stored, { ...record, note: note() }, signal),
  };
}
