/** The faults of a soak, one after the other in a seeded order. Each reports whether it has struck. */
import { setTimeout as delay } from 'node:timers/promises';
import type { InformerThreads } from '../../src/index.ts';
import type {
  EmbeddedApiServer,
  FaultAction,
  ScenarioMatch,
} from '../../src/tools/apiserver/testing/index.ts';
import { InsideThreads, THROW, THROW_SOON } from '../../test/faults/recovery/inside-threads.ts';
import type { ThreadFile } from '../../test/faults/recovery/inside-threads.ts';

export interface SoakFault {
  readonly name: string;
  /** Upper bound of the lists that an informer makes because of the fault. */
  readonly listsMax: number;
  /** Strikes, and resolves when the fault has ended. False: it did not strike. */
  strike(server: EmbeddedApiServer, threads: InformerThreads): Promise<boolean>;
}

const LAND_TIMEOUT_MS = 15_000;
const POLL_MS = 20;
const BLOCK_MS = 500;
const DOWN_MS = 1000;
const REFUSALS = 2;

const STREAM = { verb: 'watch', resource: 'pods' } as const;

export const SOAK_FAULTS: readonly SoakFault[] = [
  rule('clean end of a watch', { type: 'end' }),
  rule('watch cut in the middle of a line', { type: 'cut', how: 'end' }),
  rule('watch reset in the middle of a line', { type: 'cut', how: 'reset' }),
  rule('event sent twice', { type: 'duplicate' }),
  rule('older event of an object sent again', { type: 'older' }),
  rule('expired watch', { type: 'error-event', status: { code: 410, reason: 'Expired' } }, 1),
  refused('watches answered 429', 429, 0),
  refused('watches answered 500', 500, REFUSALS),
  refused('watches answered 503', 503, REFUSALS),
  {
    name: 'server restarted',
    listsMax: 0,
    async strike(server) {
      await server.restart({ downMs: DOWN_MS });
      await server.waitForWatches(1);
      return true;
    },
  },
  {
    name: 'history compacted without a watch',
    listsMax: 1,
    async strike(server) {
      const dropped = server.dropWatches({ how: 'reset' });
      await Promise.all([dropped, server.compact()]);
      await server.waitForWatches(1);
      return true;
    },
  },
  death('shard thread died', 'piscina/dist/worker.js', THROW),
  death('reflector thread died', 'reflector.js', THROW_SOON),
  {
    name: 'main thread blocked',
    listsMax: 0,
    async strike() {
      const end = performance.now() + BLOCK_MS;
      while (performance.now() < end);
      return true;
    },
  },
];

/** A thread throws and is replaced; the metrics of its successor show it. */
function death(name: string, file: ThreadFile, expression: string): SoakFault {
  return {
    name,
    listsMax: 0,
    async strike(_server, threads) {
      const restarts = (): number => threads.stats().reduce((sum, { restarts: count }) => sum + count, 0);
      const before = restarts();
      {
        await using inside = await InsideThreads.open();
        await inside.run(file, expression);
      }
      const end = performance.now() + LAND_TIMEOUT_MS;
      while (restarts() === before && performance.now() < end) await delay(POLL_MS);
      return restarts() > before;
    },
  };
}

function rule(name: string, action: FaultAction, listsMax = 0): SoakFault {
  return { name, listsMax, strike: (server) => landed(server, name, STREAM, action) };
}

/** The watch ends, and the next ones are refused. After 429 the informer waits, after 5xx it lists, like client-go. */
function refused(name: string, status: number, listsMax: number): SoakFault {
  return {
    name,
    listsMax,
    async strike(server) {
      const action = { type: 'answer', status, ...(status === 429 ? { retryAfterSeconds: 1 } : {}) } as const;
      const struck = landed(server, name, STREAM, action, REFUSALS);
      await server.dropWatches({ how: 'close' });
      return await struck;
    },
  };
}

async function landed(
  server: EmbeddedApiServer,
  name: string,
  match: ScenarioMatch,
  action: FaultAction,
  times = 1,
): Promise<boolean> {
  const faultId = `${name} ${performance.now()}`;
  await server.setFaults({ rules: [{ faultId, match, action, times }] });
  const end = performance.now() + LAND_TIMEOUT_MS;
  const strikes = async (): Promise<number> => {
    const all = await server.landedFaults();
    return all.filter((fault) => fault.faultId === faultId).length;
  };
  while ((await strikes()) < times && performance.now() < end) await delay(POLL_MS);
  const hasLanded = (await strikes()) >= times;
  await server.healFaults(faultId);
  return hasLanded;
}
