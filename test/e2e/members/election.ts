/** A member takes part in an election beside its partitions. The judge sees the leadership as one more partition. */
import { setTimeout } from 'node:timers/promises';
import { LeaderElector, ObjectClient } from '../../../src/controller/index.ts';
import type { ServerSource } from '../../../src/index.ts';
import { resources } from '../../../src/index.ts';
import { withCode } from '../../../src/base/errors.ts';
import { nowMs } from './history.ts';
import type { MemberLine } from './history.ts';

/** The number of the leadership among the partitions, of which there are fewer. */
export const LEADERSHIP = 1000;
const ACT_MS = 50;
const RETRY_MS = 2000;
const NAMESPACE = 'default';
const NAME = 'members-leader';

/** Leads whenever it is elected, until the signal is aborted, and writes a line for each act. */
export async function leadAgainAndAgain(
  source: ServerSource,
  member: string,
  signal: AbortSignal,
  write: (line: MemberLine) => void,
  report: (error: unknown) => void,
): Promise<void> {
  const client = new ObjectClient(source);
  while (!signal.aborted) {
    const elector = new LeaderElector({
      client,
      namespace: NAMESPACE,
      name: NAME,
      identity: member,
      onError: report,
    });
    const lead = async (leading: AbortSignal): Promise<void> => {
      const { spec } = await client.get(resources.coordination.v1.leases, {
        namespace: NAMESPACE,
        name: NAME,
      });
      const place = { member, partition: LEADERSHIP, epoch: spec?.leaseTransitions ?? 0 };
      // Its key is its own: no state is judged.
      const key = `leadership of ${member}`;
      while (act({ kind: 'begins', ...place, key, version: 1 })) await setTimeout(ACT_MS);

      function act(line: Omit<Extract<MemberLine, { kind: 'begins' }>, 'atMs'>): boolean {
        // Before the look at the signal: a suspension in between makes no late act look like one in time.
        const atMs = nowMs();
        if (leading.aborted) return false;
        write({ ...line, atMs });
        write({ kind: 'ends', atMs, ...place, key });
        return true;
      }
    };
    await elector.run({ signal }, lead).catch((error: unknown) => {
      report(withCode(error));
      return setTimeout(RETRY_MS, undefined, { signal }).catch(() => undefined);
    });
  }
}
