/** The conductor: it starts everything, and runs one window after the other into its record. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { loadKubeConfig } from '../../src/index.ts';
import { FaultyProxy } from '../e2e/members/faulty-proxy.ts';
import { nowMs } from '../e2e/members/history.ts';
import type { Line } from '../e2e/members/history.ts';
import { undelivered } from '../e2e/members/judge.ts';
import { LogTail } from '../e2e/members/log-tail.ts';
import { Members } from '../e2e/members/members.ts';
import { TemporaryFolder } from '../kit/temporary-folder.ts';
import type { PlannedWindow } from './faults.ts';
import { SETTLE_MAX_MS, carriedOf, groupLinesOf, poolLinesOf } from './judge.ts';
import { Load } from './load.ts';
import type { ProgramWindow } from './program-messages.ts';
import { ProgramProcess } from './program-process.ts';
import { Scraper } from './scraper.ts';
import { inTurns } from './soak-server.ts';
import type { SoakServer } from './soak-server.ts';
import { strikeAll } from './striker.ts';
import type { Struck } from './striker.ts';
import type { KindName, Report, State, WindowRecord } from './window-record.ts';

const MEMBERS = 3;
const LOOK_MS = 250;
/** Time for everything to begin, on a slow machine. */
const START_MAX_MS = 240_000;

export class Soak implements AsyncDisposable {
  readonly #struck: Struck;
  readonly #folder: TemporaryFolder;
  readonly #scraper: Scraper;
  readonly #poolTail: LogTail;
  readonly #startedMs: number = performance.now();
  readonly #delay = monitorEventLoopDelay();
  #before: Readonly<Record<KindName, State>>;
  /** Lines of members of earlier windows that the judge still needs. */
  #carried: readonly Line[] = [];

  private constructor(struck: Struck, folder: TemporaryFolder, before: Record<KindName, State>) {
    this.#struck = struck;
    this.#folder = folder;
    this.#before = before;
    this.#scraper = new Scraper(struck.program.address);
    this.#poolTail = new LogTail(folder.file('pool.log'));
  }

  /** Resolves when all members have partitions, and the program's caches are filled. */
  static async start(server: SoakServer): Promise<Soak> {
    const folder = new TemporaryFolder();
    const direct = loadKubeConfig({ path: folder.write('direct.yaml', server.kubeconfig) });
    const load = new Load(direct);
    await load.fill();
    const proxy = await FaultyProxy.start(server.port);
    const proxied = server.kubeconfig.replace(`127.0.0.1:${server.port}`, `127.0.0.1:${proxy.port}`);
    const program = await ProgramProcess.start(folder.write('program.yaml', proxied), folder.path);
    const members = new Members(server.kubeconfig, true);
    for (let count = 0; count < MEMBERS; count++) await members.start();
    const areReady = (): boolean => members.healthy.every(({ partitions }) => partitions > 0);
    if (!(await holds(areReady, START_MAX_MS))) throw new Error('not all members have partitions');
    const struck = { server: inTurns(server), program, proxy, members, load, folder: folder.path };
    return new Soak(struck, folder, await load.listed());
  }

  /** Processes that have ended by themselves. */
  get failures(): string[] {
    const { program, members } = this.#struck;
    return [
      ...members.failures.map((failure) => `ended: ${failure}`),
      ...(program.failure ? [program.failure] : []),
    ];
  }

  async run(planned: PlannedWindow): Promise<WindowRecord> {
    const { program, load } = this.#struck;
    const beganMs = nowMs();
    this.#delay.reset();
    this.#delay.enable();
    await program.call({ type: 'begin' });
    const stop = new AbortController();
    const loading = load.run(stop.signal);
    const missed = await strikeAll(this.#struck, planned);
    const healedMs = performance.now();
    stop.abort();
    await loading;
    const pool: Line[] = [];
    const { behind, settledMs } = await this.#settle(healedMs, pool);
    const { handlers, reports, gauges } = await program.call<ProgramWindow>({ type: 'end' });
    const before = this.#before;
    this.#before = await load.listed();
    const leases = await load.leases();
    const writes = load.take();
    const lines = this.#struck.members.takeLines();
    const group = [...this.#carried, ...lines];
    this.#carried = carriedOf([...group, ...groupLinesOf(writes)], beganMs);
    if (Object.keys(behind).length === 0) this.#poolTail.empty();
    return {
      index: planned.index,
      faults: planned.strikes.map(({ fault }) => fault),
      missed,
      before,
      after: this.#before,
      writes,
      handlers,
      group,
      pool,
      reports: [...reports, ...lines.flatMap(reportOf)],
      scrapes: this.#scraper.take(),
      settledMs,
      behind,
      lateMs: this.#delay.max / 1e6,
      atHours: (performance.now() - this.#startedMs) / 3_600_000,
      gauges: { ...gauges, leases },
    };
  }

  /** Ends the program and the members as their users would. */
  async stop(): Promise<void> {
    await this.#scraper[Symbol.asyncDispose]();
    await this.#struck.program.stop();
    await this.#struck.members.leave(0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { program, members, proxy } = this.#struck;
    await this.#scraper[Symbol.asyncDispose]();
    await program[Symbol.asyncDispose]();
    await members[Symbol.asyncDispose]();
    await proxy[Symbol.asyncDispose]();
    await this.#folder[Symbol.asyncDispose]();
  }

  /** Waits until every object was delivered and reconciled in its newest state, or too long. */
  async #settle(healedMs: number, pool: Line[]): Promise<Pick<WindowRecord, 'behind' | 'settledMs'>> {
    const versions = await this.#struck.load.touch();
    let behind: Behind = {};
    const settledMs: Record<string, number> = {};
    const isSettled = async (): Promise<boolean> => {
      pool.push(...this.#poolTail.read());
      behind = await this.#behind(versions, pool);
      for (const part of Object.keys(behind)) settledMs[part] = performance.now() - healedMs;
      return Object.keys(behind).length === 0;
    };
    await holds(isSettled, healedMs + SETTLE_MAX_MS - performance.now());
    return { behind, settledMs };
  }

  async #behind(versions: Readonly<Record<KindName, number>>, pool: readonly Line[]): Promise<Behind> {
    const { program, members, load } = this.#struck;
    // The gate of processes has the failure.
    if (program.failure !== undefined) return {};
    const hasReached = await program.call<boolean>({ type: 'reached', versions });
    const [ofPool] = undelivered([...pool, ...poolLinesOf(load.made)]);
    const [ofGroup] = undelivered([...this.#carried, ...members.lines(), ...groupLinesOf(load.made)]);
    return {
      ...(hasReached ? {} : { program: 'a handler has not received everything' }),
      ...(ofPool === undefined ? {} : { pool: `${ofPool} is not reconciled` }),
      ...(ofGroup === undefined ? {} : { members: `${ofGroup} is not reconciled` }),
    };
  }
}

type Behind = WindowRecord['behind'];

function reportOf(line: Line): Report[] {
  return line.kind === 'reports' ? [{ from: line.member, code: line.code, message: line.message }] : [];
}

/** Returns whether something became true in time. */
async function holds(isSo: () => boolean | Promise<boolean>, withinMs: number): Promise<boolean> {
  const endMs = performance.now() + withinMs;
  while (!(await isSo())) {
    if (performance.now() > endMs) return false;
    await setTimeout(LOOK_MS);
  }
  return true;
}
