/** The reconcile function of the pool: it writes which version it reconciles, and ends or blocks its thread on demand. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { ThreadReconcile } from '../../src/thread/index.ts';
import { nowMs } from '../e2e/members/history.ts';
import type { Line } from '../e2e/members/history.ts';
import { block, claims, folderOfSoak } from './claim.ts';
import { poolPlaceOf } from './pool-place.ts';
import type { KindName } from './window-record.ts';

const BLOCK_MS = 1500;
const WORK_MS = 1;

const reconcile: ThreadReconcile<Readonly<Record<KindName, object>>> = async (item, { cache }) => {
  const [kind, key = ''] = item.split(' ');
  const beginMs = nowMs();
  const object = cache
    .informer(kind as KindName)
    .getIndexer()
    .getByKey(key);
  // Which object it was that is gone only the thread knows that had it before: the judge asks for none.
  if (!object) return;
  const place = poolPlaceOf(item);
  write({ kind: 'begins', atMs: beginMs, ...place, version: Number(object.resourceVersion) });
  if (claims('pool-exits')) process.exit(3);
  if (claims('pool-blocks')) block(BLOCK_MS);
  await setTimeout(WORK_MS);
  write({ kind: 'ends', atMs: nowMs(), ...place });
};

export default reconcile;

function write(line: Line): void {
  appendFileSync(join(folderOfSoak(), 'pool.log'), `${JSON.stringify(line)}\n`);
}
