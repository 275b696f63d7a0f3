/** An index function, which the shards load: code of a user inside a shard's thread, which ends or blocks it. */
import { block, claims } from './claim.ts';

const BLOCK_MS = 1500;

export function byFault(): string[] {
  if (claims('shard-exits')) process.exit(3);
  if (claims('shard-blocks')) block(BLOCK_MS);
  return ['all'];
}
