/** The configurations of the pipeline that must all behave alike, and how a run shows which one it was. */

/** Indexer threads; 0 is the in-process twin. */
export const THREADS_OF = { twin: 0, 'threads-1': 1, 'threads-3': 3 } as const;
export type ConfigurationName = keyof typeof THREADS_OF;

/** How the title of the test begins that proves that a configuration was used. */
export const EVIDENCE_TITLE = 'the statistics of the threads show';
