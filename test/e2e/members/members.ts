/** The members as processes, each behind a proxy of its own, and the faults that strike them. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { TemporaryFolder } from '../../kit/temporary-folder.ts';
import { FaultyProxy } from './faulty-proxy.ts';
import { nowMs } from './history.ts';
import type { Line, ReceivedLine } from './history.ts';
import { LogTail } from './log-tail.ts';

const PROGRAM = fileURLToPath(new URL('member.js', import.meta.url));

export type Fault = 'kill' | 'terminate' | 'freeze' | 'slow' | 'silent' | 'cut';

interface Member {
  readonly identity: string;
  readonly child: ChildProcess;
  readonly proxy: FaultyProxy;
  readonly exited: Promise<void>;
  /** Number of partitions that the member last reported. */
  partitions: number;
  isStruck: boolean;
  isEnding: boolean;
}

export class Members implements AsyncDisposable {
  /** Members that have ended with an error. */
  readonly failures: string[] = [];
  /** Lines so far, the faults among them. */
  #lines: Line[] = [];
  readonly #tails: LogTail[] = [];
  readonly #folder = new TemporaryFolder();
  readonly #kubeconfig: string;
  readonly #isElecting: boolean;
  readonly #members: Map<string, Member> = new Map();
  #started = 0;

  /** @param kubeconfig its server is `https://127.0.0.1:PORT` @param isElecting whether members elect a leader as well */
  constructor(kubeconfig: string, isElecting: boolean = false) {
    this.#kubeconfig = kubeconfig;
    this.#isElecting = isElecting;
  }

  /** Members that no fault strikes now, with the numbers of their partitions. */
  get healthy(): readonly { readonly identity: string; readonly partitions: number }[] {
    return [...this.#members.values()].filter((each) => !each.isStruck && !each.isEnding);
  }

  /** The lines of all members, and the faults. */
  lines(): readonly Line[] {
    for (const tail of this.#tails) this.#lines.push(...tail.read());
    return this.#lines;
  }

  /** Returns the lines so far, and forgets them. */
  takeLines(): readonly Line[] {
    const lines = this.lines();
    this.#lines = [];
    return lines;
  }

  async start(): Promise<void> {
    const identity = identityOf(++this.#started);
    const [origin, port] = /https:\/\/127\.0\.0\.1:(\d+)/.exec(this.#kubeconfig) ?? [];
    const proxy = await FaultyProxy.start(Number(port));
    const text = this.#kubeconfig.replace(String(origin), `https://127.0.0.1:${proxy.port}`);
    const kubeconfig = this.#folder.write(`${identity}.yaml`, text);
    const log = this.#folder.file(`${identity}.log`);
    this.#tails.push(new LogTail(log));
    const elects = this.#isElecting ? ['elects'] : [];
    const child = spawn(process.execPath, [PROGRAM, kubeconfig, identity, log, ...elects], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit').then(async ([code, signal]) => {
      this.#members.delete(identity);
      await proxy[Symbol.asyncDispose]();
      // A member that has not begun yet ends by SIGTERM itself.
      if (code !== 0 && signal === null) this.failures.push(`${identity} ended with status ${code}`);
    });
    const member: Member = {
      identity,
      child,
      proxy,
      exited,
      partitions: 0,
      isStruck: false,
      isEnding: false,
    };
    this.#members.set(identity, member);
    createInterface({ input: child.stdout }).on('line', (text) => {
      const line = JSON.parse(text) as ReceivedLine;
      member.partitions = line.partitions;
      this.#lines.push(line);
    });
  }

  /** Strikes a member for a time; resolves when the fault is over. A member that has ended is replaced. */
  async strike(identity: string, how: Fault, lastsMs: number): Promise<void> {
    const member = this.#members.get(identity);
    if (!member) return;
    const isEnd = how === 'kill' || how === 'terminate';
    const atMs = nowMs();
    this.#lines.push({
      kind: 'disturbed',
      atMs,
      member: identity,
      how,
      untilMs: isEnd ? Infinity : atMs + lastsMs,
    });
    member.isStruck = true;
    if (isEnd) {
      await this.#end(member, how === 'kill' ? 'SIGKILL' : 'SIGTERM');
      await this.start();
      return;
    }
    if (how === 'freeze') member.child.kill('SIGSTOP');
    else member.proxy.mode = how;
    await setTimeout(lastsMs);
    if (how === 'freeze') member.child.kill('SIGCONT');
    else member.proxy.mode = 'open';
    member.isStruck = false;
  }

  /** Ends members with SIGTERM, together, until this many are left. */
  async leave(count: number): Promise<void> {
    const leaving = [...this.#members.values()].slice(count);
    await Promise.all(
      leaving.map((member) => {
        const atMs = nowMs();
        this.#lines.push({
          kind: 'disturbed',
          atMs,
          member: member.identity,
          how: 'leave',
          untilMs: Infinity,
        });
        return this.#end(member, 'SIGTERM');
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#members.values()].map((member) => this.#end(member, 'SIGKILL')));
    await this.#folder[Symbol.asyncDispose]();
  }

  async #end(member: Member, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    member.isEnding = true;
    member.child.kill(signal);
    await member.exited;
  }
}

function identityOf(number: number): string {
  return `member-${number}`;
}
