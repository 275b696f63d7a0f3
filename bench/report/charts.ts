/** Bar charts of the clients. Axes are logarithmic: clients are orders of magnitude apart. */
import { FIGURE, ratioToBest } from '../row.ts';
import type { Row } from '../row.ts';
import { SAME_NODE } from '../names.ts';
import type { ClientName, SuiteName, Unit } from '../names.ts';
import { POD_BYTES } from '../suites/common.ts';
import { numberText, ratioText, sizeText } from '../table-text.ts';
import { COLOUR, svgOf } from './svg.ts';

export interface Chart {
  readonly file: string;
  readonly title: string;
  /** Name of the value axis. */
  readonly axis: string;
  /** Factor from a row's value to the unit of the axis. */
  readonly factor?: number;
  readonly suite: SuiteName;
  readonly unit: Unit;
  readonly isWanted: (row: Row) => boolean;
  /** The text below a group of bars. */
  readonly group: (row: Row) => string;
}

const WIDTH = 960;
const HEIGHT = 470;
/** Longer numbers overlap those of the neighbours. */
const THOUSANDS_FROM = 10_000;
/** The same colours in every chart. */
const COLOURS: Readonly<Record<ClientName, string>> = {
  kubeloom: COLOUR.blue,
  'kubeloom-lts': '#003f66',
  limit: '#bbbbbb',
  'client-node': COLOUR.vermilion,
  'client-node-2': '#e69f00',
  'kubernetes-fluent-client': '#cc79a7',
  'client-go': '#56b4e9',
  'client-go-protobuf': '#f0e442',
  'kube-rs': '#009e73',
};
const base = (row: Row): string => row.case.split(FIGURE)[0] ?? '';
const figure = (row: Row): string => row.case.split(FIGURE)[1] ?? '';

const isMain = (row: Row): boolean => row.default && figure(row) === '';
/** The handler, and what differs from pods of 5 KB. */
const byHandler = (row: Row): string =>
  [
    row.handler,
    ...(base(row) === 'pods' ? [] : ['dropped']),
    ...(row.objectBytes === POD_BYTES ? [] : [sizeText(row.objectBytes)]),
  ].join(', ');

export const CHARTS: readonly Chart[] = [
  {
    file: 'watch.svg',
    title: 'Watch throughput, pods of 5 KB unless named, by what the handler touches (more is better)',
    axis: 'events/s',
    suite: 'watch',
    unit: 'events/s',
    isWanted: isMain,
    group: byHandler,
  },
  {
    file: 'watch-cpu.svg',
    title: 'CPU time an event, pods of 5 KB unless named, by what the handler touches (less is better)',
    axis: 'µs an event',
    suite: 'watch',
    unit: 'cpu-us/event',
    isWanted: isMain,
    group: byHandler,
  },
  {
    file: 'sync.svg',
    title: 'Initial sync: until the handler has every object (less is better)',
    axis: 'ms',
    suite: 'sync',
    unit: 'ms',
    isWanted: (row) => isMain(row) && row.case.endsWith('pods'),
    group: base,
  },
  {
    file: 'latency.svg',
    title: 'From the wire to the handler at 10,000 events/s, open loop (less is better)',
    axis: 'µs',
    factor: 1000,
    suite: 'latency',
    unit: 'ms',
    isWanted: (row) => row.default && figure(row).startsWith('p'),
    group: figure,
  },
  {
    file: 'memory.svg',
    title: 'Resident memory an object of 5,120 bytes (less is better)',
    axis: 'bytes',
    suite: 'memory',
    unit: 'bytes',
    isWanted: (row) => figure(row) === 'rss-per-object',
    group: base,
  },
  {
    file: 'growth.svg',
    title: 'Watch throughput by the number of cached objects, 1 KB pods (more is better)',
    axis: 'events/s',
    suite: 'growth',
    unit: 'events/s',
    isWanted: (row) => figure(row) === '',
    group: base,
  },
];

/** Returns undefined if the results contain no rows for the chart. */
export function drawChart(chart: Chart, results: readonly Row[]): string | undefined {
  const rows = results.filter(
    (row) =>
      row.suite === chart.suite && row.unit === chart.unit && row.value !== null && chart.isWanted(row),
  );
  if (rows.length === 0) return undefined;
  const groups = [...new Set(rows.map(chart.group))];
  const clients = [...new Set(rows.map(({ client }) => client))];
  const values = rows.map((row) => (row.value ?? 0) * (chart.factor ?? 1));
  const lowest = 10 ** Math.floor(Math.log10(Math.min(...values)));
  return svgOf(WIDTH, HEIGHT, {
    title: { text: chart.title, left: 'center', top: 8, textStyle: { fontSize: 15 } },
    legend: { bottom: 8, itemGap: 14, itemWidth: 18, textStyle: { fontSize: 11 } },
    grid: { left: 90, right: 20, top: 70, bottom: 180 },
    xAxis: {
      type: 'category',
      data: groups.map((group) => [group, ...captions(results, rows, chart, group)].join('\n')),
      axisLabel: {
        interval: 0,
        fontSize: 11,
        lineHeight: 15,
        width: Math.floor((WIDTH - 110) / groups.length),
        overflow: 'break',
      },
    },
    yAxis: {
      type: 'log',
      // Bars stand on it.
      min: lowest,
      startValue: lowest,
      name: `${chart.axis}, logarithmic`,
      nameTextStyle: { fontSize: 12 },
      axisLabel: { formatter: axisText },
    },
    series: clients.map((client) => ({
      name: named(rows, client),
      type: 'bar',
      itemStyle: { color: COLOURS[client] },
      label: { show: true, position: 'top', fontSize: 9, formatter: labelText },
      data: groups.map((group) => valueOf(rows, chart, client, group)),
    })),
  });
}

/** Captions: kubeloom's ratios to the best client on the same Node and to the limit, and the clients that failed. */
function captions(results: readonly Row[], rows: readonly Row[], chart: Chart, group: string): string[] {
  // The bars are those of the first run.
  const own = Object.keys(SAME_NODE).flatMap(
    (client) => rows.find((row) => row.client === client && chart.group(row) === group) ?? [],
  );
  const failed = results.filter(
    (row) => row.suite === chart.suite && row.value === null && chart.group(row) === group,
  );
  return [
    ...own.flatMap((row) => {
      const best = ratioToBest(row);
      const { limit } = row.client === 'kubeloom' ? row.ratios : {};
      return [
        ...(best === undefined ? [] : [`${ratioText(best.ratio)} ${best.peer}`]),
        ...(limit === undefined ? [] : [`${ratioText(limit)} the limit`]),
      ];
    }),
    ...new Set(
      failed.map(({ client, error = '' }) =>
        error.startsWith('not measured') ? `${client}: not measured` : `${client} fails`,
      ),
    ),
  ];
}

/** A client with version and runtime. */
function named(rows: readonly Row[], client: ClientName): string {
  const version = rows.find((row) => row.client === client && row.version !== null)?.version ?? '';
  return `${client} ${version}`.trim();
}

function axisText(value: number): string {
  return value.toLocaleString('en-US');
}

function valueOf(rows: readonly Row[], chart: Chart, client: string, group: string): number | '-' {
  const value = rows.find((row) => row.client === client && chart.group(row) === group)?.value ?? null;
  return value === null ? '-' : value * (chart.factor ?? 1);
}

function labelText({ value }: { readonly value: unknown }): string {
  if (typeof value !== 'number') return '';
  return value < THOUSANDS_FROM ? numberText(value) : `${Math.round(value / 1000)}k`;
}
