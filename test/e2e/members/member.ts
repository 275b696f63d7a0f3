/**
 * A member as a process: `node member.js KUBECONFIG IDENTITY LOG`. Its work on a key is a pause, and the removal of the
 * finalizer of what is deleted. It appends a line to the log for each act, at once: a kill loses nothing. SIGTERM stops it.
 */
import { appendFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { withCode } from '../../../src/base/errors.ts';
import { removeFinalizer } from '../../../src/controller/index.ts';
import { PartitionedManager } from '../../../src/partitions/index.ts';
import type { ReconcileContext } from '../../../src/controller/index.ts';
import type { PartitionControllers } from '../../../src/partitions/index.ts';
import { loadKubeConfig, resources } from '../../../src/index.ts';
import { HANG_MS } from '../../kit/hang.ts';
import { leadAgainAndAgain } from './election.ts';
import { FINALIZER, nowMs } from './history.ts';
import type { MemberLine } from './history.ts';

const [kubeconfig = '', member = '', log = ''] = process.argv.slice(2);
const { configMaps } = resources.core.v1;
const WORK_MS = 4;
/** An outage of the server delays no member for longer than its leases do. */
const BACKOFF_MAX_MS = 3000;

function write(line: MemberLine): void {
  appendFileSync(log, `${JSON.stringify(line)}\n`);
}

function report(error: unknown): void {
  const { code, message } = withCode(error);
  write({ kind: 'reports', atMs: nowMs(), member, code, message });
}

/** Uids of the objects that the caches had last, by partition, epoch and key. */
const uids = new Map<string, string>();

/** Times are taken before the look at the signal: a suspension in between makes no late act look like one in time. */
async function work(
  { partition, epoch }: PartitionControllers,
  key: string,
  { cache, client, signal }: ReconcileContext,
): Promise<void> {
  const beginMs = nowMs();
  if (signal.aborted) return;
  const object = cache.get(configMaps, key);
  // A name may come again, also in another partition: the object that was there last is gone.
  const inTenure = `${partition}/${epoch}/${key}`;
  const uid = object?.uid ?? uids.get(inTenure);
  if (object) uids.set(inTenure, object.uid);
  // A later object of the same name has a different uid.
  else uids.delete(inTenure);
  // It came and went while its key waited: no object to judge.
  if (uid === undefined) return;
  const place = { member, partition, epoch, key: `${key}#${uid}` };
  write({ kind: 'begins', atMs: beginMs, ...place, version: Number(object?.resourceVersion ?? 0) });
  let isDone = false;
  try {
    await setTimeout(WORK_MS);
    if (object?.object.metadata?.deletionTimestamp)
      await removeFinalizer(client, configMaps, object.object, FINALIZER);
    isDone = true;
  } finally {
    const endMs = nowMs();
    write({ kind: isDone && !signal.aborted ? 'ends' : 'stops', atMs: endMs, ...place });
  }
}

const source = loadKubeConfig({ path: kubeconfig });
process.on('warning', report);
const manager = new PartitionedManager(source, {
  name: 'members',
  namespace: 'default',
  identity: member,
  key: 'uid',
  // A server that is away delays the end, on a busy machine for long.
  shutdownTimeoutMs: HANG_MS,
  onError: report,
  cache: { onError: report, backoff: { maxMs: BACKOFF_MAX_MS } },
  declare: (controllers) => {
    const { partition, epoch } = controllers;
    write({ kind: 'owns', atMs: nowMs(), member, partition, epoch });
    controllers
      .controllerFor(configMaps, { onError: report })
      .reconcile((key, context) => work(controllers, key, context));
  },
});
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());
// The conductor holds the other end: a member does not outlive it.
const parent = process.stdin.resume().once('end', () => process.exit(1)) as Socket;
parent.unref();
const leading = leadAgainAndAgain(source, member, stop.signal, write, report);
await manager.run({ signal: stop.signal });
await leading;
