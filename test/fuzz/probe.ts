/**
 * The one oracle of all targets. A case may end with an error of a known code, or with the right value, within its time. It
 * may not leave an error outside of its calls, nor a secret in a text, nor memory or handles behind.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { KubeloomError } from '../../src/index.ts';
import { ERROR_GROUPS } from '../../src/base/error-codes/error-table.ts';
import { canaryIn, everythingOf } from '../security/canary.ts';
import { Chance } from '../sim/chance.ts';
import { HANG_MS } from '../kit/hang.ts';

export interface FuzzTarget {
  readonly name: string;
  /** Time of one case. Default: until it counts as hanging. */
  readonly timeoutMs?: number;
  /** Number of cases in `npm test`, fewer where a case takes long. */
  readonly quickCases: number;
  /** Number of cases of `npm run suite -- fuzz`: about 13 seconds. */
  readonly cases: number;
  /** Time within which everything that the cases held must be released. Default: as long. */
  readonly releaseMs?: number;
  /** Prepares what the cases share. The function that it returns is one case; it reports to the probe what it sees. */
  readonly open: () => Promise<{ readonly run: FuzzCase; readonly close: () => Promise<void> }>;
}

export type FuzzCase = (chance: Chance, probe: Probe) => Promise<void> | void;

/** One wrong thing that a case did. */
export type Complaint = string;

const HEAP_GROWTH_BYTES_MAX = 16 * 2 ** 20;
const HANDLES_GROWTH_MAX = 2;
/** Cases before the first measurement: what is made once is made. */
const WARM_UP_CASES = 20;
/** Time between two measurements. */
const SETTLE_MS = 200;

const CODES = new Set(ERROR_GROUPS.flatMap(({ errors }) => Object.keys(errors)));
/** A failed check of an invariant is a fault, whatever came in. */
const DEFECT = 'ERR_KUBELOOM_ASSERTION';

/** Collects the reports of one case. */
export class Probe {
  readonly complaints: Complaint[] = [];
  /** Codes of the errors that were seen. */
  readonly codes: string[] = [];

  fail(complaint: Complaint): void {
    if (this.complaints.length < 5) this.complaints.push(complaint);
  }

  want(condition: boolean, complaint: Complaint): void {
    if (!condition) this.fail(complaint);
  }

  /** Takes an error that a call threw or a listener received. */
  error(error: unknown, where: string): void {
    this.text(error, where);
    if (!(error instanceof KubeloomError))
      return this.fail(`${where}: not coded: ${everythingOf(error).slice(0, 600)}`);
    this.codes.push(error.code);
    if (!CODES.has(error.code) || error.code === DEFECT)
      this.fail(`${where}: ${error.code}: ${String(error.stack)}`);
  }

  /** Takes anything that a program may print. */
  text(value: unknown, where: string): void {
    const found = canaryIn(typeof value === 'string' ? value : everythingOf(value));
    if (found !== undefined) this.fail(`${where}: a secret in ${found}`);
  }

  /** Calls, and takes the error. @returns undefined after an error */
  async attempt<R>(where: string, call: () => R | Promise<R>): Promise<R | undefined> {
    try {
      return await call();
    } catch (error) {
      this.error(error, where);
      return undefined;
    }
  }
}

/** Runs cases of one target, one after the other. */
export class Fuzzer implements AsyncDisposable {
  readonly #target: FuzzTarget;
  readonly #opened: Awaited<ReturnType<FuzzTarget['open']>>;
  readonly #watch = new ProcessWatch();
  #cases = 0;
  #before: Growth | undefined;

  private constructor(target: FuzzTarget, opened: Awaited<ReturnType<FuzzTarget['open']>>) {
    this.#target = target;
    this.#opened = opened;
  }

  static async open(target: FuzzTarget): Promise<Fuzzer> {
    return new Fuzzer(target, await target.open());
  }

  /** Runs the case of a seed. */
  async run(seed: number): Promise<readonly Complaint[]> {
    const probe = new Probe();
    this.#watch.probe = probe;
    const { timeoutMs = HANG_MS } = this.#target;
    const deadline = new AbortController();
    await Promise.race([
      (async () => this.#opened.run(new Chance(seed), probe))().catch((error: unknown) =>
        probe.error(error, 'the case'),
      ),
      delay(timeoutMs, undefined, { signal: deadline.signal }).then(
        () => probe.fail(`hangs for ${timeoutMs} ms`),
        () => {},
      ),
    ]);
    deadline.abort();
    // Rejections without a handler are announced after the microtasks.
    await new Promise((resolve) => setImmediate(resolve));
    this.#watch.probe = undefined;
    this.#cases++;
    if (this.#cases === WARM_UP_CASES) this.#before = await growth();
    return probe.complaints;
  }

  /** Returns what the cases left behind, as soon as that is nothing, or when everything should be released. */
  async leftovers(): Promise<readonly Complaint[]> {
    if (!this.#before) return [];
    const until = performance.now() + (this.#target.releaseMs ?? HANG_MS);
    for (;;) {
      const complaints = this.#grownSince(this.#before, await growth());
      if (complaints.length === 0 || performance.now() > until) return complaints;
    }
  }

  #grownSince(before: Growth, { heapBytes, handles }: Growth): Complaint[] {
    const complaints: Complaint[] = [];
    const grownBytes = heapBytes - before.heapBytes;
    if (grownBytes > HEAP_GROWTH_BYTES_MAX)
      complaints.push(`${Math.round(grownBytes / 2 ** 20)} MiB are held after ${this.#cases} cases`);
    const grown = handles.length - before.handles.length;
    if (grown > HANDLES_GROWTH_MAX)
      complaints.push(
        `${grown} handles are held after ${this.#cases} cases: ${[...new Set(handles)].join()}`,
      );
    return complaints;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#watch.end();
    await this.#opened.close();
  }
}

interface Growth {
  readonly heapBytes: number;
  readonly handles: readonly string[];
}

async function growth(): Promise<Growth> {
  await delay(SETTLE_MS);
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { heapUsed, external } = process.memoryUsage();
  return { heapBytes: heapUsed + external, handles: process.getActiveResourcesInfo() };
}

type Write = typeof process.stdout.write;

/** Errors outside of every call, warnings, and what is written to the terminal. */
class ProcessWatch {
  probe: Probe | undefined = undefined;
  readonly #others: (readonly [event: string, listener: () => void])[] = [];
  readonly #writes: readonly (readonly [stream: NodeJS.WriteStream, write: Write])[];
  readonly #listeners: readonly (readonly [event: string, listener: (value: unknown) => void])[] = [
    ['uncaughtException', (error) => this.probe?.fail(`uncaught: ${everythingOf(error).slice(0, 600)}`)],
    [
      'unhandledRejection',
      (error) => this.probe?.fail(`unhandled rejection: ${everythingOf(error).slice(0, 600)}`),
    ],
    ['warning', (warning) => this.probe?.text(warning, 'a warning')],
  ];

  constructor() {
    // The test runner takes errors of every test as its own.
    for (const [event, listener] of this.#listeners) {
      this.#others.push(
        ...process.listeners(event as 'exit').map((other) => [event, other as () => void] as const),
      );
      process.removeAllListeners(event).on(event, listener);
    }
    // oxlint-disable-next-line typescript/unbound-method -- called with its stream
    this.#writes = [process.stdout, process.stderr].map((stream) => [stream, stream.write] as const);
    for (const [stream, write] of this.#writes) {
      stream.write = (text: Uint8Array | string, ...rest: never[]) => {
        this.probe?.text(String(text), 'the output');
        return write.call(stream, text, ...rest);
      };
    }
  }

  end(): void {
    for (const [event, listener] of this.#listeners) process.off(event, listener);
    for (const [event, other] of this.#others) process.on(event, other);
    for (const [stream, write] of this.#writes) stream.write = write;
  }
}
