/**
 * Watchers of a measurement as a process: `node watcher-process.js SERVER CA_FILE TOKEN NEIGHBOURS COUNT`. They are plain watches
 * without a client library, so that what they show is the server's. `alone` is the healthy watcher: it writes the delay of each
 * change to its standard output as a line. The others are COUNT slow watchers.
 */
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { createInterface } from 'node:readline';
import { nowMs } from '../../test/e2e/members/history.ts';
import { LABEL, RECONNECT_MS } from './watchers-figures.ts';
import type { Neighbours } from './watchers-figures.ts';

const [server = '', caFile = '', token = '', given, count] = process.argv.slice(2);
const neighbours = given as Neighbours;
const ca = readFileSync(caFile);
// Each watch has its own connection: a stalled watch must not stall another.
const agent = new Agent({ keepAlive: false });
const query = new URLSearchParams({ watch: 'true', labelSelector: LABEL, timeoutSeconds: '600' });
/** The first events of a watch are the present objects, changed before. */
const startedMs = nowMs();
const SENT = /"sent":"([\d.]+)"/;

/** Watches until the connection ends. @returns the end of the watch */
function watch(onLine: ((line: string) => void) | undefined, ended: () => void): () => void {
  const asked = request(`${server}/api/v1/namespaces/default/configmaps?${query.toString()}`, {
    agent,
    ca,
    headers: { authorization: `Bearer ${token}` },
  });
  asked.on('response', (response) => {
    if (response.statusCode !== 200) throw new Error(`the server answered ${response.statusCode}`);
    response.on('error', ended).on('close', ended);
    // A stalled watcher does not read: without a listener the response stays paused.
    if (onLine) createInterface({ input: response }).on('line', onLine).on('error', ended);
  });
  asked.on('error', ended).end();
  return () => asked.destroy();
}

function reconnect(onLine: ((line: string) => void) | undefined): void {
  const end = watch(onLine, () => undefined);
  setTimeout(() => {
    end();
    reconnect(onLine);
  }, RECONNECT_MS);
}

/** A stalled watcher that the server has ended stays away, as in the scenario of the server's own benchmark. */
const START: Readonly<Record<Neighbours, () => void>> = {
  alone: () =>
    void watch(
      (line) => {
        const sentMs = Number(SENT.exec(line)?.[1] ?? 0);
        if (sentMs > startedMs) process.stdout.write(`${nowMs() - sentMs}\n`);
      },
      () => process.exit(1),
    ),
  reconnecting: () => reconnect(() => undefined),
  stalled: () => void watch(undefined, () => undefined),
  'stalled and reconnecting': () => reconnect(undefined),
};
for (let index = 0; index < Number(count); index++) START[neighbours]();
process.stdin.on('end', () => process.exit()).resume();
