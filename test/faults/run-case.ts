/**
 * Runs one case and judges it: whether the fault landed, whether there was load, whether all state equals the server's,
 * and what the oracle found.
 */
import type { InformerThreads } from '../../src/index.ts';
import { judge } from '../sim/oracle/judge.ts';
import { recordServer } from '../sim/oracle/server-history.ts';
import { describe } from '../sim/oracle/violation.ts';
import type { FaultCase, Outcome } from './fault-case.ts';
import { Scene } from './scene.ts';
import { LOAD_MIN } from './scene-options.ts';

const CONVERGE_MS = 5_000;
/** Limit of the wait for equality; longer than allowed, to report how late it was. */
const CONVERGE_MAX_MS = 60_000;
const COMPLAINTS_MAX = 4;

export async function runCase(fault: FaultCase, shared: InformerThreads): Promise<Outcome> {
  const { id, what, expected } = fault;
  const common = { id, what, expected };
  let scene: Scene;
  try {
    scene = await Scene.start(fault, shared);
  } catch (error) {
    const complaints = [`the case could not begin: ${messageOf(error)}`];
    const nothing = { landed: '', load: 0, seen: '', convergedMs: undefined };
    return { ...common, ...nothing, verdict: 'INVALID', complaints };
  }
  try {
    const complaints: string[] = [];
    const seen = await fault.run(scene).catch((error: unknown) => {
      complaints.push(messageOf(error));
      return '';
    });
    const { convergedMs, complaint } = await converge(fault, scene);
    if (complaint) complaints.push(complaint);
    const found = await oracle(fault, scene).catch((error: unknown) => [`the oracle: ${messageOf(error)}`]);
    const { text: landed, missing, hasEnded } = await landing(fault, scene);
    complaints.push(...found, ...surfacing(fault, scene, hasEnded));
    const isInvalid = missing.length > 0 || landed === '' || scene.load < LOAD_MIN;
    for (const one of missing) complaints.push(`${one} did not land`);
    if (scene.load < LOAD_MIN) complaints.push(`only ${scene.load.toFixed(0)} events/s before the fault`);
    const verdict = isInvalid ? 'INVALID' : complaints.length > 0 ? 'failed' : 'passed';
    return { ...common, landed, load: Math.round(scene.load), seen, convergedMs, verdict, complaints };
  } finally {
    await scene[Symbol.asyncDispose]();
  }
}

/** Waits until the cache has the server's keys and versions, and checks that it keeps them. */
async function converge(
  fault: FaultCase,
  scene: Scene,
): Promise<{ convergedMs: number | undefined; complaint?: string }> {
  await scene.server.healFaults();
  await scene.stopLoad();
  const startedAt = Math.max(scene.healedAtMs, performance.now());
  try {
    await scene.until(() => isEqual(scene), 'the cache equals the server', CONVERGE_MAX_MS);
  } catch (error) {
    return { convergedMs: undefined, complaint: messageOf(error) };
  }
  const convergedMs = Math.round(performance.now() - startedAt);
  await scene
    .until(() => scene.informer.busyHandlers.length === 0, 'the handlers are done')
    .catch(() => undefined);
  const limitMs = fault.convergeMs ?? CONVERGE_MS;
  if (convergedMs <= limitMs) return { convergedMs };
  return { convergedMs, complaint: `equal only after ${convergedMs} ms, ${limitMs} are allowed` };
}

async function isEqual({ server, informer }: Scene): Promise<boolean> {
  const state = await server.state('pods');
  const entries = informer.getStore().list();
  // Versions may have a prefix and be padded (`versions` of the fault rules).
  const digits = (version: string): string => /[1-9]\d*$/.exec(version)?.[0] ?? version;
  return (
    entries.length === state.size &&
    entries.every(({ key, resourceVersion: cached }) => {
      const version = state.get(key);
      return [cached, digits(cached)].includes(version ?? '') || cached.endsWith(`0${version}`);
    })
  );
}

async function oracle(fault: FaultCase, { recorder, server, informer }: Scene): Promise<string[]> {
  recorder.look();
  recorder.snapshot(informer, true);
  await recordServer(recorder.histories, server, 'pods');
  const excused = new Set(fault.excused);
  const violations = judge(recorder.histories).filter(({ invariant }) => !excused.has(invariant));
  const shown = violations.slice(0, COMPLAINTS_MAX).map(describe);
  return violations.length > COMPLAINTS_MAX
    ? [...shown, `and ${violations.length - COMPLAINTS_MAX} more`]
    : shown;
}

/** @param hasEnded whether a fault ended a watch */
function surfacing({ codes = [], mayReport = [] }: FaultCase, scene: Scene, hasEnded: boolean): string[] {
  const reported = new Set(scene.codes());
  const silent = codes.filter((code) => !reported.has(code)).map((code) => `${code} was not reported`);
  // A busy machine may make a handler slow, and bring no event to a watch before a fault ends it.
  const allowed = new Set([...codes, ...mayReport, 'ERR_KUBELOOM_SLOW_HANDLER']);
  if (hasEnded) allowed.add('ERR_KUBELOOM_VERY_SHORT_WATCH');
  const strange = [...reported].filter((code) => !allowed.has(code));
  const why = strange.map((code) => {
    const message = scene.errors.find((error) => error.code === code)?.message ?? '';
    return `${code} was reported without a reason: ${message.slice(0, 200)}`;
  });
  return [...silent, ...why];
}

async function landing(
  fault: FaultCase,
  scene: Scene,
): Promise<{ text: string; missing: string[]; hasEnded: boolean }> {
  const landed = await scene.server.landedFaults();
  const ids = new Set(landed.map(({ faultId }) => faultId));
  const missing = [...scene.wanted].filter((faultId) => !ids.has(faultId));
  const counts = new Map<string, number>();
  const strikes = [
    ...landed.map(({ action }) => action as string),
    ...(fault.hasProxy === true ? scene.proxy.landed.map(({ what }) => what) : []),
    ...scene.own,
  ];
  for (const strike of strikes) counts.set(strike, (counts.get(strike) ?? 0) + 1);
  const text = [...counts].map(([strike, count]) => (count > 1 ? `${strike} ×${count}` : strike)).join(', ');
  return { text, missing, hasEnded: counts.has('end') };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message.replaceAll('\n', ' ').slice(0, 400) : String(error);
}
