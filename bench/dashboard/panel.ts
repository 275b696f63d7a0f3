/** The form in which the dashboard is written down: Grafana's JSON and the picture of the documentation are made of it. */

export interface Query {
  /** PromQL with the variables of the dashboard and Grafana's `$__rate_interval`. */
  readonly expression: string;
  /** Name of a series, with labels as `{{label}}`. */
  readonly legend: string;
}

/** Names of units are Grafana's. */
export type Unit = 'short' | 's' | 'bytes' | 'Bps' | 'percentunit';

interface Common {
  readonly title: string;
  /** Tells a reader what to look for. */
  readonly description: string;
  /** Columns; a row of the dashboard has 24. */
  readonly width: number;
  readonly queries: readonly Query[];
}

/** One large number. Values from `alarmFrom` on are red. */
export interface Stat extends Common {
  readonly kind: 'stat';
  readonly unit: Unit;
  readonly alarmFrom?: number;
}

/**
 * Lines, areas that are stacked, or steps. Steps are for counters of what is rare: the first event of a series is no
 * increase to Prometheus, so a rate would not show it.
 */
export interface Graph extends Common {
  readonly kind: 'lines' | 'areas' | 'steps';
  readonly unit: Unit;
}

/** A state for every series at every time; the values of the query are indexes of `states`. */
export interface States extends Common {
  readonly kind: 'states';
  readonly states: readonly State[];
}

export interface State {
  readonly text: string;
  readonly colour: 'green' | 'orange' | 'red';
}

export type Panel = Stat | Graph | States;

/** A heading and the panels below it. */
export interface Section {
  readonly title: string;
  readonly panels: readonly Panel[];
}

/** Choice at the top of the dashboard. */
export interface Variable {
  readonly name: string;
  readonly label: string;
  readonly query: string;
}

export interface Position {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

/** Columns of the grid, as in Grafana. */
export const COLUMNS = 24;
const STAT_ROWS = 4;
const GRAPH_ROWS = 8;

/** A heading, or a panel, with its place in the grid. */
export type Placed =
  | { readonly section: Section; readonly panel?: never; readonly at: Position }
  | { readonly section?: never; readonly panel: Panel; readonly at: Position };

/** Places panels beside each other until a row is full. */
export function placed(sections: readonly Section[]): readonly Placed[] {
  const all: Placed[] = [];
  let y = 0;
  for (const section of sections) {
    all.push({ section, at: { x: 0, y, w: COLUMNS, h: 1 } });
    y++;
    let x = 0;
    for (const panel of section.panels) {
      const h = panel.kind === 'stat' ? STAT_ROWS : GRAPH_ROWS;
      all.push({ panel, at: { x, y, w: panel.width, h } });
      x += panel.width;
      if (x < COLUMNS) continue;
      x = 0;
      y += h;
    }
  }
  return all;
}
