/** Grafana's JSON of the dashboard, in the form that every version imports (schema 42 is that of Grafana 12 and 13). */
import { placed } from './panel.ts';
import type { Graph, Panel, Placed, Stat, States, Variable } from './panel.ts';
import { VARIABLES } from './queries.ts';
import { SECTIONS } from './sections.ts';

const SCHEMA_VERSION = 42;
const DATA_SOURCE = { type: 'prometheus', uid: '${datasource}' };

/** Returns the text of docs/grafana/kubeloom.json. */
export function dashboardJson(): string {
  const dashboard = {
    title: 'kubeloom',
    uid: 'kubeloom',
    description: 'Informers, handlers, work queues and threads of programs with kubeloom.',
    tags: ['kubernetes', 'kubeloom'],
    schemaVersion: SCHEMA_VERSION,
    editable: true,
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-1h', to: 'now' },
    timezone: 'browser',
    annotations: { list: [] },
    links: [],
    templating: { list: [dataSourceVariable(), ...VARIABLES.map(queryVariable)] },
    panels: placed(SECTIONS).map(panelJson),
  };
  return `${JSON.stringify(dashboard, undefined, 2)}\n`;
}

function dataSourceVariable(): object {
  return { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus', current: {} };
}

function queryVariable({ name, label, query }: Variable): object {
  return {
    name,
    label,
    type: 'query',
    datasource: DATA_SOURCE,
    definition: query,
    query: { query, refId: 'values' },
    refresh: 2,
    sort: 1,
    multi: true,
    includeAll: true,
    // Series without the label are shown, too: a scraper may add neither job nor instance.
    allValue: '.*',
    current: { text: ['All'], value: ['$__all'] },
  };
}

function panelJson({ section, panel, at }: Placed, index: number): object {
  const id = index + 1;
  if (section) return { id, type: 'row', title: section.title, collapsed: false, panels: [], gridPos: at };
  const { title, description } = panel;
  return {
    id,
    title,
    description,
    datasource: DATA_SOURCE,
    gridPos: at,
    targets: panel.queries.map(({ expression, legend }, number) => ({
      refId: String.fromCodePoint('A'.codePointAt(0)! + number),
      datasource: DATA_SOURCE,
      editorMode: 'code',
      expr: expression,
      legendFormat: legend,
      range: true,
    })),
    ...drawing(panel),
  };
}

function drawing(panel: Panel): object {
  if (panel.kind === 'stat') return statJson(panel);
  return panel.kind === 'states' ? statesJson(panel) : graphJson(panel);
}

function statJson({ unit, alarmFrom }: Stat): object {
  const alarm = alarmFrom === undefined ? [] : [{ color: 'red', value: alarmFrom }];
  const steps = [{ color: alarm.length === 0 ? 'blue' : 'green', value: null }, ...alarm];
  return {
    type: 'stat',
    fieldConfig: {
      defaults: {
        unit,
        noValue: '–',
        color: { mode: 'thresholds' },
        thresholds: { mode: 'absolute', steps },
      },
      overrides: [],
    },
    options: {
      colorMode: 'value',
      graphMode: 'area',
      reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
    },
  };
}

function graphJson({ kind, unit, queries }: Graph): object {
  const legend = { showLegend: queries.length > 0, displayMode: 'list', placement: 'bottom', calcs: [] };
  return {
    type: 'timeseries',
    fieldConfig: {
      defaults: {
        unit,
        min: 0,
        color: { mode: 'palette-classic' },
        custom: {
          drawStyle: 'line',
          lineInterpolation: kind === 'steps' ? 'stepAfter' : 'linear',
          fillOpacity: kind === 'areas' ? 35 : 8,
          lineWidth: 1,
          showPoints: 'never',
          spanNulls: false,
          stacking: { mode: kind === 'areas' ? 'normal' : 'none', group: 'A' },
        },
      },
      overrides: [],
    },
    options: { legend, tooltip: { mode: 'multi', sort: 'desc' } },
  };
}

function statesJson({ states }: States): object {
  const mapped = states.map(({ text, colour }, index) => [String(index), { text, color: colour, index }]);
  return {
    type: 'state-timeline',
    fieldConfig: {
      defaults: {
        color: { mode: 'thresholds' },
        mappings: [{ type: 'value', options: Object.fromEntries(mapped) as object }],
        thresholds: { mode: 'absolute', steps: [{ color: 'text', value: null }] },
        custom: { fillOpacity: 75, lineWidth: 0 },
      },
      overrides: [],
    },
    options: {
      mergeValues: true,
      rowHeight: 0.85,
      showValue: 'auto',
      legend: { showLegend: true, displayMode: 'list', placement: 'bottom' },
      tooltip: { mode: 'single', sort: 'none' },
    },
  };
}
