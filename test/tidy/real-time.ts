/**
 * Tests that read a real clock or wait for a real timer, each with the reason. Every other test injects its time, or waits
 * for an event. `AbortSignal.timeout(HANG_MS)` is free: it ends a hang, and decides nothing.
 */
import { lineAt } from './source-file.ts';
import type { Rule } from './rules.ts';

const CLOCKS = new RegExp(
  [
    /\bset(?:Timeout|Interval)(?:\(| as )/,
    /\b(?:performance|Date)\.now\b|\bprocess\.(?:cpuUsage|hrtime)\b|\bmonitorEventLoopDelay\b/,
    /\bAbortSignal\.timeout\((?!HANG_MS\))|\btimeout: \d[\d_]{2,}/,
    /\brealClock\b|\bbackgroundClock\b|\bimport \{ sleep \}|\bnew TimeLimit\([^,()]*,[^,()]*\)/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
);

/** Finds clocks and timers in tests outside the files of `reasons`, and files of `reasons` that use none. */
export function clocksOutside(reasons: Readonly<Record<string, string>>): Rule {
  return (files) => {
    const uses = files
      .filter(({ path }) => path.startsWith('test/'))
      .flatMap(({ path, text, code }) =>
        Array.from(code.matchAll(CLOCKS), ({ 0: use, index }) => {
          const message = `'${use.trim()}': inject the time, wait for an event, or take HANG_MS for a limit (test/tidy/real-time.ts)`;
          return { path, line: lineAt(text, index), message };
        }),
      );
    const using = new Set(uses.map(({ path }) => path));
    return [
      ...uses.filter(({ path }) => !Object.hasOwn(reasons, path)),
      ...Object.keys(reasons)
        .filter((path) => !using.has(path))
        .map((path) => ({
          path,
          line: 1,
          message: 'no clock left: delete its line in test/tidy/real-time.ts',
        })),
    ];
  };
}

const ASKS_AGAIN = 'asks again until a condition holds of which no event tells';
const BUDGET = 'runs for the time that its command line gives';
const DATE = 'reads the date, as the code under test or a server does';
const ENDS_A_HANG = 'ends a hang, measures nothing';
const FAULT = 'a real socket, thread or process stalls for a real time';
const IS_THE_CASE = 'the real timer is the case, or nothing waits for it';
const KEEPS_ALIVE = 'keeps its process alive, or shows that something else does';
const LOAD = 'a real process under a real load';
const LOOKS = 'looks at the cache in every turn of the event loop';
const PRINTS = 'prints how long a step took';
const STAMPS = 'stamps records for a report';

/** Every file with its reason. */
export const REAL_TIME: Readonly<Record<string, string>> = {
  'test/contract/cache.contract.ts': LOOKS,
  'test/contract/child-run.ts': ENDS_A_HANG,
  'test/contract/errors.contract.ts': LOOKS,
  'test/contract/mutation.ts': BUDGET,
  'test/contract/process-child.ts': KEEPS_ALIVE,
  'test/contract/threads.contract.ts': LOOKS,
  'test/e2e/contract-requests.ts': IS_THE_CASE,
  'test/e2e/loadtest.e2e.ts': DATE,
  'test/e2e/members/election.ts': LOAD,
  'test/e2e/members/faulty-proxy.ts': FAULT,
  'test/e2e/members/history.ts': STAMPS,
  'test/e2e/members/member.ts': LOAD,
  'test/faults/cases-of-programs.ts': DATE,
  'test/faults/scene.ts': ASKS_AGAIN,
  'test/fuzz/fuzz.test.ts': IS_THE_CASE,
  'test/fuzz/probe.ts': ASKS_AGAIN,
  'test/fuzz/run.ts': BUDGET,
  'test/fuzz/targets-of-answers.ts': ASKS_AGAIN,
  'test/kit/file-deadline.ts': ENDS_A_HANG,
  'test/kit/scripted-server.ts': STAMPS,
  'test/kit/until.ts': ASKS_AGAIN,
  'test/package/steps.ts': PRINTS,
  'test/prove/run.ts': PRINTS,
  'test/runtimes/commit.ts': DATE,
  'test/sim/mutants/run.ts': ENDS_A_HANG,
  'test/sim/oracle/recorder.ts': STAMPS,
  'test/sim/tally.ts': PRINTS,
  'test/soak/reconcile.ts': LOAD,
  'test/soak/run.ts': BUDGET,
  'test/soak/soak.ts': LOAD,
  'test/unit/base/clock-thread.ts': IS_THE_CASE,
  'test/unit/base/clock.test.ts': IS_THE_CASE,
  'test/unit/base/on-abort.test.ts': IS_THE_CASE,
  'test/unit/client-node/consumer.ts': IS_THE_CASE,
  'test/unit/controller/drain.test.ts': IS_THE_CASE,
  'test/unit/http/credentials-renewal.test.ts': DATE,
  'test/unit/informer/activity.test.ts': DATE,
  'test/unit/informer/scene.ts': KEEPS_ALIVE,
  'test/unit/informer/threads/throwing-module.ts': FAULT,
  'test/unit/shared/fence.test.ts': DATE,
  'test/unit/shared/ring/stress.ts': LOAD,
  'test/unit/thread/held-thread.ts': IS_THE_CASE,
  'test/unit/thread/pool/reconciling.ts': IS_THE_CASE,
  'test/unit/tools/apiserver/load.test.ts': DATE,
  'test/unit/tools/apiserver/testing/alive-child.ts': KEEPS_ALIVE,
  'test/unit/tools/cli/loadtest.slow.ts': DATE,
  'test/unit/workqueue/workers.test.ts': IS_THE_CASE,
};
