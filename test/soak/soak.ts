/** The conductor: it starts everything, and runs one window after the other into its record. */
import { setTimeout } from 'node:timers/promises';
import { loadKubeConfig } from '../../src/index.ts';
import { FaultyProxy } from '../e2e/members/faulty-proxy.ts';
import { nowMs } from '../e2e/members/history.ts';
import type { Line } from '../e2e/members/history.ts';
import { undelivered } from '../e2e/members/judge.ts';
import { until } from '../kit/until.ts';
import { LogTail } from '../e2e/members/log-tail.ts';
import { Members } from '../e2e/members/members.ts';
import { HANG_MS } from '../kit/hang.ts';
import { TemporaryFolder } from '../kit/temporary-folder.ts';
import type { PlannedWindow } from './faults.ts';
import { carriedOf, groupLinesOf, poolLinesOf } from './judge.ts';
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

export class Soak implements AsyncDisposable {
  readonly #struck: Struck;
  readonly #folder: TemporaryFolder;
  readonly #scraper: Scraper;
  readonly #poolTail: LogTail;
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
    const members = new Members(server.kubeconfig);
    for (let count = 0; count < MEMBERS; count++) await members.start();
    await until(
      () => members.healthy.every(({ partitions }) => partitions > 0),
      'a partition for each member',
    );
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
    await program.call({ type: 'begin' });
    const stop = new AbortController();
    const loading = load.run(stop.signal);
    const missed = await strikeAll(this.#struck, planned, () => this.#scraper.scrape());
    stop.abort();
    await loading;
    const pool: Line[] = [];
    const behind = await this.#settle(pool);
    const { handlers, reports, rest } = await program.call<ProgramWindow>({ type: 'end' });
    const before = this.#before;
    this.#before = await load.listed();
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
      behind,
      rest,
    };
  }

  /** Ends the program and the members as their users would. */
  async stop(): Promise<void> {
    await this.#struck.program.stop();
    await this.#struck.members.leave();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { program, members, proxy } = this.#struck;
    await program[Symbol.asyncDispose]();
    await members[Symbol.asyncDispose]();
    await proxy[Symbol.asyncDispose]();
    await this.#folder[Symbol.asyncDispose]();
  }

  /** Waits until every object was delivered and reconciled in its newest state; returns the parts that no longer go on. */
  async #settle(pool: Line[]): Promise<Behind> {
    const versions = await this.#struck.load.touch();
    let text = '';
    let changedMs = nowMs();
    for (;;) {
      pool.push(...this.#poolTail.read());
      const behind = await this.#behind(versions, pool);
      const before = text;
      text = JSON.stringify(behind);
      if (text !== before) changedMs = nowMs();
      if (Object.keys(behind).length === 0 || nowMs() - changedMs > HANG_MS) return behind;
      await setTimeout(LOOK_MS);
    }
  }

  async #behind(versions: Readonly<Record<KindName, number>>, pool: readonly Line[]): Promise<Behind> {
    const { program, members, load } = this.#struck;
    // The gate of processes has the failure.
    if (program.failure !== undefined) return {};
    const left = await program.call<number>({ type: 'left', versions });
    const [ofPool] = undelivered([...pool, ...poolLinesOf(load.made)]);
    const [ofGroup] = undelivered([...this.#carried, ...members.lines(), ...groupLinesOf(load.made)]);
    return {
      ...(left === 0 ? {} : { program: `handlers wait for ${left} changes` }),
      ...(ofPool === undefined ? {} : { pool: `${ofPool} is not reconciled` }),
      ...(ofGroup === undefined ? {} : { members: `${ofGroup} is not reconciled` }),
    };
  }
}

type Behind = WindowRecord['behind'];

function reportOf(line: Line): Report[] {
  return line.kind === 'reports' ? [{ from: line.member, code: line.code, message: line.message }] : [];
}
