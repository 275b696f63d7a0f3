/**
 * The checks behind one path of a health server, with the answers of Kubernetes' own: `ok`, or a line for each check. An
 * answer names the checks that fail and withholds the reasons, which are for the log.
 */
import type { Clock } from '../base/clock.ts';
import { KubeloomError, firstLineOf, inspectable } from '../base/errors.ts';
import { warnIn } from '../base/logger.ts';
import type { Logger } from '../base/logger.ts';
import { onAbort } from '../base/on-abort.ts';
import { TimeLimit } from '../base/time-limit.ts';
import type { Answer } from './http-server.ts';

/**
 * Checks a part of the program. It fails if it returns false, throws, or its promise does; its signal is aborted when
 * its time is over or the server is closed.
 */
export type HealthCheck = (signal: AbortSignal) => unknown;

/** Wrapped, because a promise would call a member `then` of what the check threw. */
interface Failure {
  readonly error: unknown;
}

/** Why a check of kubeloom itself fails in the ordinary course of a start or a stop. */
export class NotReadyYet extends Error {}

export interface CheckParts {
  readonly limitMs: number;
  readonly clock: Clock;
  /** Throws nothing: a check is answered, also by a program whose logger fails. */
  readonly log: Logger | undefined;
  /** Aborted when the server is closed. */
  readonly closed: AbortSignal;
}

export class HealthChecks {
  readonly #path: string;
  readonly #checks: ReadonlyMap<string, RunningCheck>;

  /** @param path `readyz` */
  constructor(path: string, checks: Readonly<Record<string, HealthCheck>>, parts: CheckParts) {
    this.#path = path;
    const running = (name: string, check: HealthCheck): RunningCheck =>
      new RunningCheck(`${path} check ${name}`, check, parts);
    this.#checks = new Map(Object.entries(checks).map(([name, check]) => [name, running(name, check)]));
  }

  /** Answers a request of all checks. */
  async all(query: URLSearchParams): Promise<Answer> {
    const excluded = new Set(query.getAll('exclude'));
    const asked = [...this.#checks].filter(([name]) => !excluded.delete(name));
    const unknown = [...excluded].map((name) => JSON.stringify(name));
    const results = await Promise.all(
      asked.map(async ([name, check]) => ({ name, isGood: await check.isGood() })),
    );
    const isGood = results.every((result) => result.isGood);
    if (isGood && !query.has('verbose')) return { status: 200, body: 'ok' };
    const lines = [
      ...results.map(lineOf),
      ...(unknown.length > 0 ? [`warn: no check to exclude is named ${unknown.join(', ')}`] : []),
      `${this.#path} check ${isGood ? 'passed' : 'failed'}`,
    ];
    return { status: isGood ? 200 : 503, body: `${lines.join('\n')}\n` };
  }

  /** Answers a request of one check. */
  async one(name: string): Promise<Answer> {
    const check = this.#checks.get(name);
    if (!check) {
      const body = `no check has this name; /${this.#path}?verbose has ${[...this.#checks.keys()].join(', ')}\n`;
      return { status: 404, body };
    }
    const isGood = await check.isGood();
    return isGood ? { status: 200, body: 'ok' } : { status: 503, body: `${lineOf({ name, isGood })}\n` };
  }
}

function lineOf({ name, isGood }: { readonly name: string; readonly isGood: boolean }): string {
  return isGood ? `[+]${name} ok` : `[-]${name} failed: reason withheld`;
}

/** One check: requests that come while it runs share its result, and a check that hangs is not called a second time. */
class RunningCheck {
  readonly #title: string;
  readonly #check: HealthCheck;
  readonly #parts: CheckParts;
  /** The result of the call in progress, which its time limit may have settled. */
  #result: Promise<boolean> | undefined;
  /** The reason of the last failure; undefined after a success. */
  #failure: string | undefined;

  constructor(title: string, check: HealthCheck, parts: CheckParts) {
    this.#title = title;
    this.#check = check;
    this.#parts = parts;
  }

  isGood(): Promise<boolean> {
    this.#result ??= this.#call();
    return this.#result;
  }

  async #call(): Promise<boolean> {
    const { limitMs, clock, closed } = this.#parts;
    const limit = new TimeLimit(limitMs, closed, clock);
    const { signal } = limit;
    const over = new Promise<Failure>((resolve) => {
      const error = new Error(`it has not ended within ${limitMs} ms (checkTimeoutMs)`);
      onAbort(signal, () => resolve({ error }));
    });
    const called = this.#run(signal).finally(() => {
      limit[Symbol.dispose]();
      this.#result = undefined;
    });
    const failure = await Promise.race([called, over]);
    if (!closed.aborted) this.#report(failure);
    return failure === undefined;
  }

  async #run(signal: AbortSignal): Promise<Failure | undefined> {
    try {
      const result = await this.#check(signal);
      return result === false ? { error: new NotReadyYet('it returned false') } : undefined;
    } catch (error) {
      return { error: inspectable(error) ?? new Error('it threw no error') };
    }
  }

  /** Reports the first failure of a kind, and the success after it. */
  #report(failure: Failure | undefined): void {
    const { log } = this.#parts;
    const reason = failure && firstLineOf(failure.error);
    if (reason === this.#failure) return;
    this.#failure = reason;
    if (failure === undefined) {
      log?.info(`${this.#title} passes`);
      return;
    }
    const error = new KubeloomError('ERR_KUBELOOM_HEALTH_CHECK', `${this.#title} fails: ${reason}`, {
      cause: failure.error,
    });
    if (failure.error instanceof NotReadyYet) log?.info(error.message);
    else warnIn(log, error);
  }
}
