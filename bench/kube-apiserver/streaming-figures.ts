/** Figures of the memory of lists, and their table. Pure. */
import type { ProcessMemory } from './memory-of-process.ts';

export const LIST_MODES = ['list', 'pages', 'watchlist'] as const;
export type ListMode = (typeof LIST_MODES)[number];
/** Selects the objects of the measurement. */
export const LABEL = 'figures=streaming';
export const PAGE_SIZE = 10;

export interface ClientFigures extends ProcessMemory {
  /** Until every informer has synced. */
  readonly durationMs: number;
  /** Objects in all caches. */
  readonly objects: number;
}

export interface StreamingFigures {
  readonly mode: ListMode;
  readonly informers: number;
  readonly client: ClientFigures;
  readonly serverBefore: ProcessMemory;
  readonly serverAfter: ProcessMemory;
}

const MIB = 2 ** 20;

/** Returns a table as Markdown: a row for each number of informers, three columns for each form of list. */
export function streamingTable(figures: readonly StreamingFigures[]): string {
  const counts = [...new Set(figures.map(({ informers }) => informers))];
  const heads = LIST_MODES.flatMap((mode) => [`${mode}: server +MiB`, 'client MiB', 's']);
  const rows = counts.map((count) => {
    const cells = LIST_MODES.flatMap((mode) => {
      const found = figures.find((each) => each.mode === mode && each.informers === count);
      if (!found) return ['', '', ''];
      const { client, serverBefore, serverAfter } = found;
      const added = serverAfter.peakBytes - serverBefore.rssBytes;
      return [mebibytes(added), mebibytes(client.peakBytes), (client.durationMs / 1000).toFixed(1)];
    });
    return `| ${count} | ${cells.join(' | ')} |`;
  });
  return [`| informers | ${heads.join(' | ')} |`, `|---:|${heads.map(() => '---:|').join('')}`, ...rows].join(
    '\n',
  );
}

function mebibytes(bytes: number): string {
  return String(Math.round(bytes / MIB));
}
