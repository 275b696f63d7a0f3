/** Figures of a list over a link, and their table. Pure. */
import { markdownTable } from './markdown-table.ts';

/** Forms of the list. */
export const FORMS = ['streaming list', 'LIST', 'LIST in gzip'] as const;
export type Form = (typeof FORMS)[number];
/** Selects the objects of the measurement. */
export const LABEL = 'figures=links';

export interface ClientFigures {
  /** Until the informer has synced. */
  readonly durationMs: number;
  readonly cpuMs: number;
  readonly peakBytes: number;
  readonly objects: number;
}

export interface LinkFigures {
  readonly form: Form;
  /** 0: no limit. */
  readonly megabitsPerSecond: number;
  readonly receivedBytes: number;
  readonly client: ClientFigures;
  readonly serverCpuSeconds: number;
}

const COLUMNS: Readonly<Record<string, (figures: LinkFigures) => string>> = {
  'Mbit/s': ({ megabitsPerSecond }) => (megabitsPerSecond === 0 ? 'no limit' : String(megabitsPerSecond)),
  form: ({ form }) => form,
  'received, MB': ({ receivedBytes }) => (receivedBytes / 1e6).toFixed(1),
  s: ({ client }) => (client.durationMs / 1000).toFixed(2),
  'client CPU, s': ({ client }) => (client.cpuMs / 1000).toFixed(2),
  'client peak, MiB': ({ client }) => String(Math.round(client.peakBytes / 2 ** 20)),
  'server CPU, s': ({ serverCpuSeconds }) => serverCpuSeconds.toFixed(2),
};

/** Returns a table as Markdown: a row for each bandwidth and each form of list. */
export function linksTable(figures: readonly LinkFigures[]): string {
  return markdownTable(COLUMNS, figures);
}
