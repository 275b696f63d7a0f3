/** The effect of faults on a request: an answer in place of the server's, or a change to the server's answer. */

import type { ServerResponse } from 'node:http';
import { createGzip, gzipSync } from 'node:zlib';
import type { Clock } from '../../../base/clock.ts';
import { sleep } from '../../../base/sleep.ts';
import type { LogView } from '../store/event-log.ts';
import type { ArmedRule, FaultEngine, RequestAction, RequestFacts } from './fault-rules.ts';
import { sendJson, sendStatus } from '../wire/http-io.ts';
import type { Listener } from '../wire/listener.ts';
import { failureOf } from '../store/status.ts';

/** The faults of a request, as the verbs need them. */
export interface RequestFaults {
  readonly facts: RequestFacts;
  readonly engine: FaultEngine;
  /** Returns the view of the replica that answers; undefined if no replica does. */
  readonly view: ((log: LogView) => LogView) | undefined;
  readonly listMetadata: Readonly<Record<string, string>>;
  readonly versions: VersionRewrite | undefined;
}

interface Parts {
  readonly engine: FaultEngine;
  readonly listener: Listener;
}

const ZEROS = Buffer.alloc(1024 * 1024);
const BOMB_MEBIBYTES = 1024;

/**
 * Waits as long as the rules require, and sends the answer of a rule, if any. @returns undefined when the request is
 * answered, or never will be
 */
export async function applyFaults(
  { engine, listener }: Parts,
  facts: RequestFacts,
  response: ServerResponse,
): Promise<RequestFaults | undefined> {
  const struck = engine.strike(facts);
  for (const armed of struck) await held(armed, engine.clock);
  for (const { rule } of struck) {
    if (answered(rule.action, response, listener)) return undefined;
  }
  return { facts, engine, ...modified(struck, facts) };
}

async function held(armed: ArmedRule<RequestAction>, clock: Clock): Promise<void> {
  const { action } = armed.rule;
  if (action.type !== 'hold') return;
  const { holdMs } = action;
  const ends: Promise<unknown>[] = [armed.whenHealed];
  if (holdMs !== undefined) ends.push(sleep(holdMs, undefined, clock));
  await Promise.race(ends);
}

function answered(action: RequestAction, response: ServerResponse, listener: Listener): boolean {
  switch (action.type) {
    case 'answer':
      answer(action, response);
      return true;
    case 'encoded':
      encoded(action, response);
      return true;
    case 'reset':
      listener.reset(response.socket);
      return true;
    case 'hang':
      return true;
    default:
      return false;
  }
}

function answer(action: Extract<RequestAction, { type: 'answer' }>, response: ServerResponse): void {
  const { status, body, headers = {}, retryAfterSeconds } = action;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (body === undefined)
    sendStatus(response, failureOf(status, 'injected failure', retryAfterSeconds).status);
  else if (typeof body === 'string') response.writeHead(status).end(body);
  else sendJson(response, status, body);
}

function encoded(action: Extract<RequestAction, { type: 'encoded' }>, response: ServerResponse): void {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Encoding': action.encoding });
  if (action.body === 'truncated') {
    const whole = gzipSync('{"kind":"PodList","apiVersion":"v1","items":[]}');
    response.end(whole.subarray(0, whole.length - 10));
    return;
  }
  const gzip = createGzip();
  gzip.pipe(response);
  let left = BOMB_MEBIBYTES;
  const more = (): void => {
    while (left > 0 && !response.destroyed) {
      left--;
      if (!gzip.write(ZEROS)) return;
    }
    gzip.end();
  };
  gzip.on('drain', more);
  more();
}

function modified(
  struck: readonly ArmedRule<RequestAction>[],
  facts: RequestFacts,
): Pick<RequestFaults, 'view' | 'listMetadata' | 'versions'> {
  let view: RequestFaults['view'];
  let listMetadata: Readonly<Record<string, string>> = {};
  let versions: VersionRewrite | undefined;
  for (const armed of struck) {
    const { action } = armed.rule;
    // etcd answers reads of the newest state, the replica answers all other reads.
    const isOfReplica = (facts.query.get('resourceVersion') ?? '') !== '';
    if (action.type === 'lag' && isOfReplica)
      view = (log) => laggingView(log, () => (armed.isHealed ? 0 : action.revisions));
    if (action.type === 'list-metadata') listMetadata = { ...listMetadata, ...action.set };
    if (action.type === 'no-initial-events') {
      facts.query.delete('sendInitialEvents');
      facts.query.delete('resourceVersionMatch');
    }
    if (action.type === 'versions') versions = new VersionRewrite(action.prefix, action.digits);
  }
  versions?.readRequest(facts.query);
  return { view, listMetadata, versions };
}

/** Returns the view of a replica that is `lag()` revisions behind. */
function laggingView(log: LogView, lag: () => number): LogView {
  return {
    get revision(): number {
      return Math.max(1, log.revision - lag());
    },
    reached: (revision, timeoutMs) => log.reached(revision + lag(), timeoutMs),
  };
}

/** Rewrites resourceVersions into text that is opaque, or longer than a number can be. */
export class VersionRewrite {
  readonly #prefix: string;
  readonly #digits: number;

  constructor(prefix: string, digits: number) {
    this.#prefix = prefix;
    this.#digits = digits;
  }

  of(revision: string): string {
    return `${this.#prefix}${revision.padStart(this.#digits, '0')}`;
  }

  /** Rewrites every resourceVersion in a line or a document. */
  rewrite(bytes: Buffer): Buffer {
    const text = bytes.toString('latin1');
    const changed = text.replace(/"resourceVersion":"(\d+)"/g, (_, revision: string) => {
      return `"resourceVersion":"${this.of(revision)}"`;
    });
    return Buffer.from(changed, 'latin1');
  }

  readRequest(query: URLSearchParams): void {
    const version = query.get('resourceVersion') ?? '';
    if (!version.startsWith(this.#prefix) || version.length <= this.#prefix.length) return;
    query.set('resourceVersion', String(Number(version.slice(this.#prefix.length))));
  }
}
