/** Carries out the phases of a workload in sequence, and keeps the writes of each. */
import { execFile } from 'node:child_process';
import { sleep } from '../../../base/sleep.ts';
import { promisify } from 'node:util';
import { KubeloomError, firstLineOf, messageOf } from '../../../base/errors.ts';
import { onAbort } from '../../../base/on-abort.ts';
import type { OtherProcess } from '../process/calls.ts';
import type { Mark, PhaseResult, ServerStage, WriteCounts } from '../result.ts';
import type { WatcherCommands } from '../watch/watcher-processes.ts';
import type { PhasedWrite } from '../verdict/log.ts';
import type { Load, Phase } from '../workload/workload.ts';
import type { WriteOutcome } from '../write/generator.ts';
import type { GeneratorCalls } from '../write/generator-process.ts';
import { absentIn, stagesBetween } from './server-stages.ts';
import type { StageReading } from './server-stages.ts';

/** Time in which watchers must have listed again. */
const RELIST_MS_MAX = 300_000;

export interface PhaseTools {
  readonly generator: OtherProcess<GeneratorCalls>;
  readonly watchers: WatcherCommands;
  readonly signal: AbortSignal;
  /** Returns the milliseconds since the start of the run. */
  readonly atMs: () => number;
  /** Returns the stages of the server so far; undefined when they cannot be read. */
  readonly readStages: () => Promise<StageReading | undefined>;
}

export class Phases {
  readonly results: PhaseResult[] = [];
  readonly writes: PhasedWrite[] = [];
  readonly marks: Mark[] = [];
  readonly stages: ServerStage[] = [];
  readonly #readings: StageReading[] = [];
  firstFailure: string | undefined;
  /** The present phase, and the start of the phase. */
  present: { readonly index: number; readonly startMs: number } = { index: 0, startMs: 0 };
  readonly #tools: PhaseTools;

  constructor(tools: PhaseTools) {
    this.#tools = tools;
  }

  /**
   * Resolves when all phases have ended, or after the signal is aborted.
   *
   * @param onPhase called when a phase begins
   */
  async run(phases: readonly Phase[], onPhase: (phase: Phase) => void): Promise<void> {
    const { generator, watchers, signal, atMs, readStages } = this.#tools;
    // Both return the answers so far.
    const unlisten = onAbort(
      signal,
      () => void Promise.all([generator.call('stop', undefined), watchers.stop()]),
    );
    try {
      let before = await readStages();
      for (const [index, phase] of phases.entries()) {
        if (signal.aborted) return;
        const startMs = atMs();
        this.present = { index, startMs };
        onPhase(phase);
        const outcome = await this.#carryOut(phase);
        this.#record(phase, index, startMs, outcome);
        const after = await readStages();
        if (before && after) this.stages.push(...stagesBetween(before, after, phase.name));
        if (after) this.#readings.push(after);
        before = after;
      }
    } finally {
      unlisten();
    }
  }

  /** The histograms that the server has not offered, by name. */
  get absentStages(): readonly string[] {
    return this.#readings.length === 0 ? [] : absentIn(this.#readings);
  }

  async #carryOut(phase: Phase): Promise<WriteOutcome | undefined> {
    const { generator, watchers } = this.#tools;
    switch (phase.type) {
      case 'create':
        return generator.call('create', phase);
      case 'sync':
        await this.#patiently(watchers.sync(phase.watchers, phase.timeoutMs), phase);
        return undefined;
      case 'steady':
        return this.#load(phase.load, phase.durationMs);
      case 'relist-storm': {
        const [outcome] = await Promise.all([this.#load(phase.load, phase.durationMs), this.#storm(phase)]);
        return outcome;
      }
      case 'slow-consumer': {
        await watchers.setSlowness(phase.watchers, phase.slow);
        const outcome = await this.#load(phase.load, phase.durationMs);
        await watchers.setSlowness(phase.watchers, undefined);
        return outcome;
      }
      case 'server-restart': {
        const [outcome] = await Promise.all([
          this.#load(phase.load, phase.durationMs),
          this.#restart(phase.command),
        ]);
        return outcome;
      }
      case 'pause':
        await this.#wait(phase.durationMs);
        return undefined;
      default:
        return phase satisfies never;
    }
  }

  async #load(load: Load | undefined, durationMs: number): Promise<WriteOutcome | undefined> {
    if (load) return this.#tools.generator.call('load', { load, durationMs });
    await this.#wait(durationMs);
    return undefined;
  }

  /**
   * All watchers list at the same moment. The next storm begins `everyMs` after that moment, or later, when all have
   * synced.
   */
  async #storm(phase: Phase & { type: 'relist-storm' }): Promise<void> {
    const { watchers, signal, atMs } = this.#tools;
    const endMs = atMs() + phase.durationMs;
    for (let nextMs = atMs(); nextMs < endMs && !signal.aborted; nextMs += phase.everyMs) {
      await this.#wait(nextMs - atMs());
      if (signal.aborted) return;
      this.#fault('relist storm');
      await this.#patiently(watchers.relist(phase.watchers, RELIST_MS_MAX), phase);
    }
  }

  async #restart([program = '', ...args]: readonly string[]): Promise<void> {
    this.#fault(`restart: ${program}`);
    try {
      await promisify(execFile)(program, args, { signal: this.#tools.signal });
    } catch (cause) {
      if (this.#tools.signal.aborted) return;
      const message = `the server was not restarted: ${firstLineOf(cause)}`;
      throw new KubeloomError('ERR_KUBELOOM_LOADTEST', message, { cause });
    }
  }

  /** The signal ends waiting watchers; that is not a failure. */
  async #patiently(work: Promise<void>, { name }: Phase): Promise<void> {
    try {
      await work;
    } catch (cause) {
      if (this.#tools.signal.aborted) return;
      const message = `${name}: the watchers did not sync: ${messageOf(cause)}`;
      throw new KubeloomError('ERR_KUBELOOM_LOADTEST', message, { cause });
    }
  }

  #fault(text: string): void {
    this.marks.push({ atMs: this.#tools.atMs(), type: 'fault', watcher: null, text });
  }

  /** Resolves early when the signal is aborted. */
  async #wait(durationMs: number): Promise<void> {
    const { signal } = this.#tools;
    try {
      await sleep(Math.max(0, durationMs), signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  #record(phase: Phase, index: number, startMs: number, outcome: WriteOutcome | undefined): void {
    const { signal, atMs } = this.#tools;
    this.firstFailure ??= outcome?.firstFailure;
    for (const write of outcome?.writes ?? []) this.writes.push({ ...write, phase: index });
    this.results.push({
      name: phase.name,
      type: phase.type,
      startMs,
      endMs: atMs(),
      outcome: signal.aborted ? 'interrupted' : 'done',
      writes: countsOf(outcome),
      rateAsked: outcome?.rateAsked ?? null,
      rateAchieved: outcome?.rateAsked === undefined ? null : outcome.rateAchieved,
    });
  }
}

function countsOf(outcome: WriteOutcome | undefined): WriteCounts {
  const count = (change: string): number =>
    outcome?.writes.filter((write) => write.change === change).length ?? 0;
  return {
    created: count('create'),
    updated: count('update'),
    statusUpdated: count('status'),
    deleted: count('delete'),
    refused: outcome?.refused ?? 0,
    unanswered: outcome?.unanswered ?? 0,
  };
}

export function sumOfCounts(phases: readonly PhaseResult[]): WriteCounts {
  const sum = (of: keyof WriteCounts): number => phases.reduce((total, { writes }) => total + writes[of], 0);
  return {
    created: sum('created'),
    updated: sum('updated'),
    statusUpdated: sum('statusUpdated'),
    deleted: sum('deleted'),
    refused: sum('refused'),
    unanswered: sum('unanswered'),
  };
}
