/** The plot of docs/sharding.md: what a member has and takes, by the number of members, with the feature gate and without. */
import { COLOUR, svgOf } from '../report/svg.ts';
import type { MemberMeans } from './sharding-figures.ts';

const PANELS: Readonly<Record<string, (means: MemberMeans) => number>> = {
  'objects in the cache': ({ objects }) => objects,
  'KiB/s received': ({ kibPerSecond }) => kibPerSecond,
  'CPU, ms/s': ({ cpuMsPerSecond }) => cpuMsPerSecond,
  'RSS, MiB': ({ rssMib }) => rssMib,
};
const LINES = [
  { name: 'gate on', isFiltering: true, color: COLOUR.blue },
  { name: 'gate off', isFiltering: false, color: COLOUR.vermilion },
];
const PANEL_WIDTH = 240;
const HEIGHT = 300;

/** Returns an SVG with a panel for each figure; the horizontal axis is the number of members. */
export function shardingPlot(means: readonly MemberMeans[]): string {
  const panels = Object.entries(PANELS);
  const counts = [...new Set(means.map(({ members }) => members))].toSorted((one, other) => one - other);
  return svgOf(PANEL_WIDTH * panels.length, HEIGHT, {
    title: panels.map(([name], index) => ({
      text: name,
      left: PANEL_WIDTH * (index + 0.55),
      top: 8,
      textAlign: 'center',
      textStyle: { fontSize: 13 },
    })),
    legend: { bottom: 4, data: LINES.map(({ name }) => name) },
    grid: panels.map((_, index) => ({
      left: PANEL_WIDTH * index + 60,
      width: PANEL_WIDTH - 80,
      top: 40,
      bottom: 70,
    })),
    xAxis: panels.map((_, index) => ({
      type: 'category',
      gridIndex: index,
      data: counts,
      name: 'members',
      nameLocation: 'middle',
      nameGap: 24,
    })),
    yAxis: panels.map((_, index) => ({ type: 'value', gridIndex: index, min: 0 })),
    series: panels.flatMap(([, valueOf], index) =>
      LINES.map(({ name, isFiltering, color }) => ({
        name,
        type: 'line' as const,
        xAxisIndex: index,
        yAxisIndex: index,
        color,
        symbolSize: 7,
        data: counts.map((count) => {
          const found = means.find((each) => each.members === count && each.isFiltering === isFiltering);
          return found ? Math.round(valueOf(found)) : '-';
        }),
      })),
    ),
  });
}
