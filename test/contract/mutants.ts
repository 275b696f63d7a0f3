/** All mutants, at least one for each clause. */
import type { Mutant } from './mutant.ts';
import { BACKLOG_MUTANTS } from './mutants-of-backlogs.ts';
import { CACHE_MUTANTS } from './mutants-of-the-cache.ts';
import { CLIENT_MUTANTS } from './mutants-of-the-client.ts';
import { LAYER_MUTANTS } from './mutants-of-the-layers.ts';
import { MANY_MUTANTS } from './mutants-of-many.ts';
import { PROGRAM_MUTANTS } from './mutants-of-the-program.ts';
import { RECOVERY_MUTANTS } from './mutants-of-recovery.ts';
import { SECURITY_MUTANTS } from './mutants-of-security.ts';
import { SERVER_MUTANTS } from './mutants-of-the-server.ts';
import { SHARDING_MUTANTS } from './mutants-of-sharding.ts';
import { PARTITION_MUTANTS } from './mutants-of-partitions.ts';
import { THREAD_MUTANTS } from './mutants-of-threads.ts';

export const MUTANTS: readonly Mutant[] = [
  ...CACHE_MUTANTS,
  ...SERVER_MUTANTS,
  ...PROGRAM_MUTANTS,
  ...LAYER_MUTANTS,
  ...MANY_MUTANTS,
  ...RECOVERY_MUTANTS,
  ...BACKLOG_MUTANTS,
  ...SECURITY_MUTANTS,
  ...SHARDING_MUTANTS,
  ...PARTITION_MUTANTS,
  ...CLIENT_MUTANTS,
  ...THREAD_MUTANTS,
];
