/**
 * One seed is one run of a cluster. First every fault of this seed can happen. Then none happens, and at the
 * end every handler must have received every change.
 */
import { hash } from 'node:crypto';
import type { Histories } from './oracle/histories.ts';
import { toJsonLines } from './oracle/json-lines.ts';
import { judge } from './oracle/judge.ts';
import { violation } from './oracle/violation.ts';
import type { Violation } from './oracle/violation.ts';
import { Chance } from './chance.ts';
import { AttachedThreads } from './attached.ts';
import { cancelCrash } from './crash.ts';
import { Handlers } from './handlers.ts';
import { Fixtures } from './fixtures.ts';
import { Steps } from './steps.ts';
import { FaultSchedule } from './fault-schedule.ts';
import type { Fault } from './fault-schedule.ts';

export interface Life {
  readonly seed: number;
  readonly histories: Histories;
  readonly violations: readonly Violation[];
  /** Why the run proves nothing; undefined when it is valid. */
  readonly invalid: string | undefined;
  readonly landed: ReadonlyMap<Fault, number>;
  readonly writes: number;
  readonly virtualMs: number;
}

/**
 * Limit by the virtual clock, after the last fault. A silent watch is noticed after its own timeout of up to
 * ten minutes.
 */
const CONVERGENCE_MS = 1_500_000;
const STEPS_MAX = 200_000;
const WRITES_MIN = 20;

export async function live(seed: number): Promise<Life> {
  cancelCrash();
  const chance = new Chance(seed);
  const fixtures = new Fixtures(chance);
  const faults = new FaultSchedule(chance);
  const handlers = new Handlers(fixtures, faults);
  const steps = new Steps(fixtures, faults, handlers);
  const { recorder, informers, writer, clock } = fixtures;
  for (let count = chance.integer(0, 30); count > 0; count--) writer.write();
  // An informer that fails is stopped at the end, which is a violation.
  for (const informer of informers) informer.run().catch(() => undefined);
  const attached = new AttachedThreads(fixtures, new Chance(~seed));
  steps.attached = attached;
  recorder.scrape();

  await steps.storm(Math.round(chance.magnitude(200, 2000)));
  const landed = new Map(faults.landed);
  faults.isOver = true;
  steps.heal();
  const healedAt = clock.now();
  recorder.histories.faults.push({ id: '1', kind: 'everything', landedAt: 0, healedAt });
  const problem = await steps.calm(STEPS_MAX, healedAt + CONVERGENCE_MS);
  recorder.look();
  for (const thread of attached.present) thread.snapshot();
  for (const informer of informers) recorder.snapshot(informer, true);
  recorder.scrape(problem === undefined);
  const ended = await steps.until(Promise.all(informers.map((informer) => informer.shutdown())));
  const released = await steps.until(attached.close());
  if (ended) await steps.until(fixtures.threads.close());

  const mayLoseLists = landed.has('reflector dies') || landed.has('shard dies');
  const found = [...judge(recorder.histories, { mayLoseLists })];
  if (problem !== undefined) found.unshift(violation('I2', problem, clock.now()));
  if (!ended) found.push(violation('I2', 'informers did not stop', clock.now()));
  if (!released || attached.leftStates > 0)
    found.push(violation('I2', `threads that ended have ${attached.leftStates} states`, clock.now()));
  return {
    seed,
    histories: recorder.histories,
    violations: found,
    invalid: invalidity(writer.writes, landed),
    landed,
    writes: writer.writes,
    virtualMs: clock.now(),
  };
}

export function hashOf({ histories }: Life): string {
  return hash('sha1', toJsonLines(histories)).slice(0, 16);
}

function invalidity(writes: number, landed: ReadonlyMap<Fault, number>): string | undefined {
  if (writes < WRITES_MIN) return `only ${writes} writes`;
  return landed.size === 0 ? 'no fault landed' : undefined;
}
