/** Runs one case and judges it: whether the fault landed, whether all state equals the server's, and what the oracle found. */
import { judge } from '../oracle/judge.ts';
import { recordServer } from '../oracle/server-history.ts';
import { describe } from '../oracle/violation.ts';
import type { CaseScene } from './case-scene.ts';
import type { FaultCase, Outcome } from './fault-case.ts';

const COMPLAINTS_MAX = 4;

export async function runCase<S extends CaseScene>(
  fault: FaultCase<S>,
  start: () => Promise<S>,
): Promise<Outcome> {
  const { id, what, expected } = fault;
  const scene = await start();
  try {
    const complaints: string[] = [];
    const attempt = async <T>(act: () => Promise<T>): Promise<T | undefined> => {
      try {
        return await act();
      } catch (error) {
        complaints.push(messageOf(error));
        return undefined;
      }
    };
    const seen = (await attempt(() => fault.run(scene))) ?? '';
    await attempt(() => converge(scene));
    await attempt(async () => complaints.push(...(await oracle(fault, scene))));
    const { counts, missing } = await landing(scene);
    complaints.push(...surfacing(fault, scene, counts.has('end')));
    const isInvalid = missing.length > 0 || counts.size === 0;
    for (const one of missing) complaints.push(`${one} did not land`);
    const landed = [...counts]
      .map(([strike, count]) => (count > 1 ? `${strike} ×${count}` : strike))
      .join(', ');
    const verdict = isInvalid ? 'INVALID' : complaints.length > 0 ? 'failed' : 'passed';
    return { id, what, expected, landed, seen, verdict, complaints };
  } finally {
    await scene[Symbol.asyncDispose]();
  }
}

/** Returns the lines of a case's row. */
export function reportOf({ id, what, verdict, landed, seen, complaints }: Outcome): string {
  const lines = [`${verdict.padEnd(7)} ${id.padEnd(4)} ${what}`, `landed ${landed || 'nothing'} · ${seen}`];
  return [...lines, ...complaints.map((complaint) => `✗ ${complaint}`)].join('\n             ');
}

/** Waits until the cache has the server's keys and versions, and the handlers have everything. */
async function converge(scene: CaseScene): Promise<void> {
  await scene.heal();
  scene.stopLoad();
  await scene.until(() => isEqual(scene), 'the cache equals the server');
  await scene.until(() => scene.informer.busyHandlers.length === 0, 'the handlers are done');
}

async function isEqual({ server, informer }: CaseScene): Promise<boolean> {
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

async function oracle<S extends CaseScene>(fault: FaultCase<S>, scene: S): Promise<string[]> {
  const { recorder, server, informer } = scene;
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
function surfacing(
  { codes = [], mayReport = [] }: Pick<FaultCase<never>, 'codes' | 'mayReport'>,
  scene: CaseScene,
  hasEnded: boolean,
): string[] {
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

async function landing(scene: CaseScene): Promise<{ counts: Map<string, number>; missing: string[] }> {
  const landed = await scene.server.landedFaults();
  const ids = new Set(landed.map(({ faultId }) => faultId));
  const counts = new Map<string, number>();
  for (const strike of [...landed.map(({ action }) => action), ...scene.strikes])
    counts.set(strike, (counts.get(strike) ?? 0) + 1);
  return { counts, missing: [...scene.wanted].filter((faultId) => !ids.has(faultId)) };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message.replaceAll('\n', ' ').slice(0, 400) : String(error);
}
