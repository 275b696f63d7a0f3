/** Another index of a run than 0: it has its share of the watchers, and does what index 0 calls for. */
import { hostname } from 'node:os';
import type { AnyKubeConfig } from '../../../kube/server-source.ts';
import { realClock } from '../../../base/clock.ts';
import { KubeloomError, messageOf } from '../../../base/errors.ts';
import { escapeControls } from '../../../base/printable.ts';
import { ApiClient } from '../../../http/api-client.ts';
import { CostLog } from '../process/cost-log.ts';
import { judgeWatchers } from '../run/judge-watchers.ts';
import type { Logs } from '../run/judge-watchers.ts';
import { machineFacts } from '../run/machine-facts.ts';
import { runIdOf } from '../run/cluster.ts';
import type { Share } from '../watch/placement.ts';
import { nowUs } from '../watch/recording-handler.ts';
import { WatcherProcesses } from '../watch/watcher-processes.ts';
import { ApiWriter } from '../write/api-writer.ts';
import type { RunPlace } from '../write/kinds.ts';
import { Board, entryName } from './board.ts';
import { FACTS, LOG, leadFactsOf, partName } from './part.ts';
import type { Call, FollowState, IndexPart, Journals, LeadFacts, LeadState } from './part.ts';
import { readParcel, writeParcel } from './parcel.ts';

export interface FollowOptions {
  readonly kubeConfig: AnyKubeConfig;
  /** The version of kubeloom. */
  readonly version: string;
  /** The name of the run. */
  readonly name: string;
  readonly share: Share;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

const LEAD = entryName(0);

/** Resolves when this index has left its part. @throws ERR_KUBELOOM_LOADTEST when index 0 died, or is another version */
export async function followLoadTest(options: FollowOptions): Promise<void> {
  const { kubeConfig, name, share, signal, say } = options;
  const api = new ApiWriter(kubeConfig);
  const run = runIdOf(name);
  const own = { api, kubeConfig, run, name: entryName(share.index), others: [LEAD], clock: realClock };
  await using board = await Board.join<FollowState>({ ...own, signal, say }, { done: 0 });
  await using follower = new Follower(options, api, board, await factsOf(board, options));
  for (let done = 0; ;) {
    const { number, call } = await nextCall(board, done);
    say(escapeControls(`${call.type}${'names' in call ? ` ${call.names.join(', ')}` : ''}`));
    try {
      await follower.carryOut(call);
    } catch (error) {
      // Watchers that wait are ended by an interruption; that is no failure.
      if (call.type === 'judge' || !leadOf(board)?.isStopped) {
        board.post({ done, failure: messageOf(error) });
        throw error;
      }
    }
    done = number;
    await board.publish({ done });
    if (call.type === 'judge') return;
  }
}

function leadOf(board: Board<FollowState>): LeadState | undefined {
  return board.stateOf(LEAD) as LeadState | undefined;
}

function nextCall(
  board: Board<FollowState>,
  done: number,
): Promise<{ readonly number: number; readonly call: Call }> {
  return board.until(() => {
    checkLead(board);
    const { number = 0, call = null, failure } = leadOf(board) ?? {};
    if (failure !== undefined) throw new KubeloomError('ERR_KUBELOOM_LOADTEST', `index 0 failed: ${failure}`);
    return call && number > done ? { number, call } : undefined;
  });
}

function checkLead(board: Board<FollowState>): void {
  if (!board.isSilent(LEAD)) return;
  throw new KubeloomError('ERR_KUBELOOM_LOADTEST', 'index 0 does not report: read its log');
}

async function factsOf(
  board: Board<FollowState>,
  { version, share: { indexes } }: FollowOptions,
): Promise<LeadFacts> {
  const text = await board.until(() => {
    checkLead(board);
    return board.factOf(LEAD, FACTS);
  });
  const facts = leadFactsOf(text);
  const { kubeloom } = facts.run.versions;
  const difference =
    facts.indexes === indexes
      ? kubeloom === version
        ? undefined
        : `is kubeloom ${kubeloom}, and this index is ${version}`
      : `has --indexes ${facts.indexes}, and this index has ${indexes}`;
  if (difference === undefined) return facts;
  throw new KubeloomError('ERR_KUBELOOM_LOADTEST', `index 0 ${difference}: start all of them alike`);
}

class Follower implements AsyncDisposable {
  readonly #options: FollowOptions;
  readonly #api: ApiWriter;
  readonly #board: Board<FollowState>;
  readonly #facts: LeadFacts;
  readonly #place: RunPlace;
  #started: { readonly watchers: WatcherProcesses; readonly costs: CostLog } | undefined;

  constructor(options: FollowOptions, api: ApiWriter, board: Board<FollowState>, facts: LeadFacts) {
    this.#options = options;
    this.#api = api;
    this.#board = board;
    this.#facts = facts;
    this.#place = { run: runIdOf(options.name), namespaces: facts.run.namespaces, nodes: [] };
  }

  async carryOut(call: Call): Promise<void> {
    switch (call.type) {
      case 'start':
        this.#start(call.atMs);
        return;
      case 'sync':
        await this.#watchers.sync(call.names, call.timeoutMs);
        return;
      case 'relist':
        await this.#watchers.relist(call.names, call.timeoutMs);
        return;
      case 'setSlowness':
        await this.#watchers.setSlowness(call.names, call.slowness);
        return;
      case 'judge':
        await this.#judge();
        return;
      default:
        call satisfies never;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#started?.watchers[Symbol.asyncDispose]();
  }

  get #watchers(): WatcherProcesses {
    if (this.#started) return this.#started.watchers;
    throw new KubeloomError('ERR_KUBELOOM_ASSERTION', 'an index was called before its start');
  }

  /** Times of this index are later than those of index 0 by the delay of a watch: no latency is made of both. */
  #start(atMs: number): void {
    const { kubeConfig, share } = this.#options;
    const startedUs = nowUs() - atMs * 1000;
    const costs = new CostLog(startedUs);
    const watchers = new WatcherProcesses({
      workload: this.#facts.run.workload,
      place: this.#place,
      kubeConfig,
      share,
      startedUs,
      onCost: (process, cost) => costs.keep(process, cost),
    });
    this.#started = { watchers, costs };
    const stopped = this.#board.until(() => leadOf(this.#board)?.isStopped || undefined);
    // A failure of the board reaches the wait for the next call, too.
    stopped.then(() => watchers.stop()).catch(() => undefined);
  }

  async #judge(): Promise<void> {
    const { kubeConfig, share } = this.#options;
    const { run } = this.#place;
    const { workload } = this.#facts.run;
    const client = new ApiClient(kubeConfig);
    const journals = (await readParcel(client, run, LOG)) as Journals | undefined;
    if (!journals) throw new KubeloomError('ERR_KUBELOOM_LOADTEST', 'the log of index 0 is not there');
    const logs: Logs = new Map(
      Array.from(journals, ([kind, journal]) => [
        kind,
        journal.map(([revision, type, key]) => ({ revision, type, key, own: undefined })),
      ]),
    );
    const watchers = this.#watchers;
    const judged = await judgeWatchers({ watchers, client, workload, place: this.#place }, logs);
    const costs = this.#started?.costs.byProcess ?? new Map();
    const part: IndexPart = { host: hostname(), machine: machineFacts(), judged, costs };
    await writeParcel(this.#api, run, partName(share.index), part);
  }
}
