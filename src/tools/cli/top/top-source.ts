/** Snapshots of a program on this machine that calls `serveStats` or `serveHealth`, and the reasons why there may be none. */
import { once } from 'node:events';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { KubeloomError } from '../../../base/errors.ts';
import { familiesOf } from './metrics-text.ts';
import { parseJson } from '../../../base/parse-json.ts';
import { TimeLimit } from '../../../base/time-limit.ts';
import type { StatsSnapshot } from '../../../metrics/index.ts';

/** A port on 127.0.0.1, or the path of a Unix socket. */
export type StatsAddress = { readonly port: number } | { readonly socketPath: string };

const DEADLINE_MS = 5_000;
/** Figures of a program with thousands of informers take a few MiB. */
const BODY_BYTES_MAX = 64 * 2 ** 20;

const ADVICE: Readonly<Record<string, (call: string) => string>> = {
  ECONNREFUSED: (call) => `nothing listens there: start the program, which must call ${call}`,
  ENOENT: (call) => `there is no such socket: start the program, which must call ${call}`,
  EACCES: () => 'this user may not open the socket: run as the user of the program',
  ENOTSOCK: (call) => `it is not a socket: name the one of ${call}`,
  ECONNRESET: () => 'the program has ended the connection: try again',
  ABORT_ERR: () => `no answer within ${DEADLINE_MS / 1000} s: the program may be blocked`,
};

/** @throws ERR_KUBELOOM_UNREACHABLE with the reason */
export async function readStats(
  address: StatsAddress,
  signal: AbortSignal,
  deadlineMs: number = DEADLINE_MS,
): Promise<StatsSnapshot> {
  const where = 'port' in address ? { host: '127.0.0.1', port: address.port } : address;
  using limit = new TimeLimit(deadlineMs, signal);
  try {
    const get = async (path: string): Promise<string> => {
      const sent = request({ ...where, path, agent: false, signal: limit.signal }).end();
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      // An unread body would keep the socket.
      const text = await textOf(response);
      return response.statusCode === 200 ? text : '';
    };
    const body = parseJson(await get('/stats.json'));
    if (isSnapshot(body)) return body;
    // The health port of a manager has metrics, and no list of errors.
    const families = familiesOf(await get('/metrics'));
    if (families.some(({ name }) => name.startsWith('kubeloom_')))
      return { atMs: Date.now(), families, errors: [] };
  } catch (cause) {
    throw unreachable(address, limit.signal.aborted ? 'ABORT_ERR' : codeOf(cause), cause);
  }
  throw unreachable(address, '');
}

/** Returns '' for a text that is too long for figures of a program. */
async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= BODY_BYTES_MAX) chunks.push(chunk);
    else response.destroy();
  }
  return bytes <= BODY_BYTES_MAX ? Buffer.concat(chunks).toString() : '';
}

export function addressText(address: StatsAddress): string {
  return 'port' in address ? `port ${address.port}` : address.socketPath;
}

function unreachable(address: StatsAddress, code: string, cause?: unknown): KubeloomError {
  const call =
    'port' in address
      ? `serveStats({ port: ${address.port} })`
      : `serveStats({ socketPath: '${address.socketPath}' })`;
  const advice = ADVICE[code]?.(call) ?? `another program answers there: it must call ${call} of kubeloom`;
  const message = `no figures from ${addressText(address)}: ${advice}`;
  return new KubeloomError('ERR_KUBELOOM_UNREACHABLE', message, { cause });
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** Checks all members that a frame reads: the other program may be of any kind. */
function isSnapshot(value: unknown): value is StatsSnapshot {
  return (
    isObject(value) &&
    isTime(value['atMs']) &&
    isArrayOf(value['families'], isFamily) &&
    isArrayOf(value['errors'], isReportedError)
  );
}

function isFamily(value: unknown): boolean {
  return isObject(value) && typeof value['name'] === 'string' && isArrayOf(value['samples'], isSample);
}

function isSample(value: unknown): boolean {
  if (!isObject(value) || !isObject(value['labels'])) return false;
  const { labels, value: figure } = value;
  if (!Object.values(labels).every((label) => typeof label === 'string')) return false;
  if (typeof figure === 'number') return true;
  return isObject(figure) && isArrayOf(figure['bounds'], isNumber) && isArrayOf(figure['counts'], isNumber);
}

function isReportedError(value: unknown): boolean {
  if (!isObject(value) || !isTime(value['atMs'])) return false;
  return ['informer', 'code', 'message'].every((member) => typeof value[member] === 'string');
}

function isArrayOf(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isItem);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && !Number.isNaN(new Date(value).getTime());
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number';
}
