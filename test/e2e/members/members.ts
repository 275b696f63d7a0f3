/** The members as processes, each behind a proxy of its own, and the faults that strike them. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { TemporaryFolder } from '../../kit/temporary-folder.ts';
import { FaultyProxy } from './faulty-proxy.ts';
import type { Line } from './history.ts';
import { LogTail } from './log-tail.ts';

const PROGRAM = fileURLToPath(new URL('member.js', import.meta.url));

export type Fault = 'freeze' | 'slow' | 'silent' | 'cut';

interface Member {
  readonly identity: string;
  readonly child: ChildProcess;
  readonly proxy: FaultyProxy;
  readonly exited: Promise<void>;
  isStruck: boolean;
  isEnding: boolean;
}

export class Members implements AsyncDisposable {
  /** Members that have ended with an error. */
  readonly failures: string[] = [];
  #lines: Line[] = [];
  readonly #tails: LogTail[] = [];
  readonly #folder = new TemporaryFolder();
  readonly #kubeconfig: string;
  readonly #members: Map<string, Member> = new Map();
  /** The last line of each partition that says who owns it. */
  readonly #owners: Map<number, Extract<Line, { readonly kind: 'owns' }>> = new Map();
  #started = 0;

  /** @param kubeconfig its server is `https://127.0.0.1:PORT` */
  constructor(kubeconfig: string) {
    this.#kubeconfig = kubeconfig;
  }

  /** Members that no fault strikes now, with the numbers of their partitions. */
  get healthy(): readonly { readonly identity: string; readonly partitions: number }[] {
    const healthy = [...this.#members.values()].filter((each) => !each.isStruck && !each.isEnding);
    return healthy.map(({ identity }) => ({ identity, partitions: this.partitionsOf(identity) }));
  }

  /** Returns the number of partitions whose last owner is this member. */
  partitionsOf(identity: string): number {
    this.lines();
    return [...this.#owners.values()].filter(({ member }) => member === identity).length;
  }

  /** The lines of all members. */
  lines(): readonly Line[] {
    for (const line of this.#tails.flatMap((tail) => tail.read())) {
      this.#lines.push(line);
      if (line.kind === 'owns' && line.atMs > (this.#owners.get(line.partition)?.atMs ?? 0))
        this.#owners.set(line.partition, line);
    }
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
    const child = spawn(process.execPath, [PROGRAM, kubeconfig, identity, log], {
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    const exited = once(child, 'exit').then(async ([code, signal]) => {
      this.#members.delete(identity);
      await proxy[Symbol.asyncDispose]();
      // A member that has not begun yet ends by SIGTERM itself.
      if (code !== 0 && signal === null) this.failures.push(`${identity} ended with status ${code}`);
    });
    this.#members.set(identity, { identity, child, proxy, exited, isStruck: false, isEnding: false });
  }

  /** Ends a member and starts a successor. */
  async replace(identity: string, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const member = this.#members.get(identity);
    if (member) await this.#end(member, signal);
    await this.start();
  }

  /** Strikes a member until the promise resolves. */
  async strike(identity: string, how: Fault, over: () => Promise<unknown>): Promise<void> {
    const member = this.#members.get(identity);
    if (!member) return;
    member.isStruck = true;
    if (how === 'freeze') member.child.kill('SIGSTOP');
    else member.proxy.mode = how;
    try {
      await over();
    } finally {
      if (how === 'freeze') member.child.kill('SIGCONT');
      else member.proxy.mode = 'open';
      member.isStruck = false;
    }
  }

  /** Ends all members with SIGTERM, together. */
  async leave(): Promise<void> {
    await Promise.all([...this.#members.values()].map((member) => this.#end(member, 'SIGTERM')));
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
