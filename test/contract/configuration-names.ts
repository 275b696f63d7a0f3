/**
 * The configurations of the pipeline, which must all behave alike, and the title that proves the configuration of a
 * run.
 */

/** Indexer threads. 0: the in-process twin; auto: the default, after its backend has changed. */
export const THREADS_OF = { twin: 0, changing: 'auto', 'threads-1': 1, 'threads-3': 3 } as const;
export type ConfigurationName = keyof typeof THREADS_OF;
export type CodecName = 'json' | 'msgpack';

/** A configuration with a codec. */
export type RunName = `${ConfigurationName}:${CodecName}`;

/** All runs of the contract. */
export const RUNS: readonly RunName[] = [
  'twin:json',
  'twin:msgpack',
  'changing:json',
  'changing:msgpack',
  'threads-1:json',
  'threads-1:msgpack',
  'threads-3:json',
  'threads-3:msgpack',
];

/** Beginning of the title of the test that proves the use of a configuration. */
export const EVIDENCE_TITLE = 'the statistics of the threads show';
