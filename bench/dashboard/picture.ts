/** The dashboard as one SVG, drawn by echarts without a browser: panels in their grid, with the series of a run. */
import { init } from 'echarts';
import type { EChartsOption } from 'echarts';
import type { Series } from '../../test/e2e/prometheus.ts';
import { COLUMNS, placed } from './panel.ts';
import type { Graph, Panel, Position, Section, Stat, States } from './panel.ts';
import { FAINT, FONT, INK, LINE, PALETTE, boxMark, textMark, textWidth, valueText } from './drawn.ts';
import type { Box, Mark } from './drawn.ts';
import type { Incident } from './scene.ts';

/** Series and texts of the picture. */
export interface Run {
  /** Series of a query, by its expression. */
  readonly results: ReadonlyMap<string, readonly Series[]>;
  readonly startMs: number;
  /** One value of each series is drawn for each second. */
  readonly seconds: number;
  readonly incidents: readonly Incident[];
  readonly caption: string;
}

const CELL_WIDTH = 49;
const CELL_HEIGHT = 27;
const MARGIN = 12;
const GAP = 4;
const HEAD = 66;
const PANEL_HEAD = 30;
const LEGEND_SIZE = 11;
const LEGEND_LINE = 16;
const AXIS_WIDTH = 58;
const AXIS_HEIGHT = 20;
const TICK_SECONDS = 20;
const LINES_MAX = 4;
const AREA_OPACITY = 0.7;
const PAGE = '#f3f4f6';
const SHADE = '#efeafa';
const STATE_COLOURS = { green: '#5aa469', orange: '#e69f00', red: '#d1495b' } as const;

/** A named line of a panel: a value or nothing for each second. */
interface Line {
  readonly name: string;
  readonly values: readonly (number | undefined)[];
}

interface Parts {
  readonly graphic: Mark[];
  readonly grid: object[];
  readonly xAxis: object[];
  readonly yAxis: object[];
  readonly series: object[];
}

export function drawPicture(sections: readonly Section[], run: Run): string {
  const parts: Parts = { graphic: [], grid: [], xAxis: [], yAxis: [], series: [] };
  const all = placed(sections);
  const width = 2 * MARGIN + COLUMNS * CELL_WIDTH;
  const height = HEAD + MARGIN + CELL_HEIGHT * Math.max(...all.map(({ at }) => at.y + at.h));
  parts.graphic.push(boxMark({ left: 0, top: 0, width, height }, PAGE, { z: -2 }), ...headMarks(run));
  for (const { section, panel, at } of all) {
    const box = boxOf(at);
    if (section) parts.graphic.push(textMark(section.title, box.left + 2, box.top + 5, 15, INK, 'bold'));
    else addPanel(parts, panel, box, run);
  }
  const drawing = init(null, null, { renderer: 'svg', ssr: true, width, height });
  drawing.setOption({
    animation: false,
    textStyle: { fontFamily: FONT },
    ...parts,
    graphic: { elements: parts.graphic },
  } as EChartsOption);
  const svg = drawing.renderToSVGString();
  drawing.dispose();
  return svg;
}

function boxOf({ x, y, w, h }: Position): Box {
  return {
    left: MARGIN + x * CELL_WIDTH + GAP,
    top: HEAD + y * CELL_HEIGHT + GAP,
    width: w * CELL_WIDTH - 2 * GAP,
    height: h * CELL_HEIGHT - 2 * GAP,
  };
}

function headMarks({ caption, incidents }: Run): Mark[] {
  const said = incidents.map(({ text, fromSeconds }) => `${fromSeconds} s: ${text}`).join('   ·   ');
  return [
    textMark('kubeloom', MARGIN + 4, 12, 20, INK, 'bold'),
    textMark(caption, MARGIN + 124, 17, 13, FAINT),
    textMark(said, MARGIN + 4, 43, 13, FAINT),
  ];
}

function addPanel(parts: Parts, panel: Panel, box: Box, run: Run): void {
  parts.graphic.push(
    boxMark(box, '#ffffff', { stroke: LINE, z: -1, r: 4 }),
    textMark(panel.title, box.left + 10, box.top + 9, 12.5, INK, 'bold'),
  );
  const lines = linesOf(panel, run);
  if (panel.kind === 'stat') addStat(parts, panel, box, lines);
  else if (panel.kind === 'states') parts.graphic.push(...stateMarks(panel, box, lines, run));
  else addGraph(parts, panel, box, lines, run);
}

function linesOf({ queries }: Panel, { results, startMs, seconds }: Run): readonly Line[] {
  return queries.flatMap(({ expression, legend }) =>
    (results.get(expression) ?? []).map(({ labels, values }): Line => {
      const at = new Map(values);
      return {
        name: legend.replaceAll(/\{\{(\w+)\}\}/g, (_, label: string) => labels[label] ?? ''),
        values: Array.from({ length: seconds + 1 }, (_, second) => at.get(startMs + second * 1000)),
      };
    }),
  );
}

function addStat(parts: Parts, { unit, alarmFrom }: Stat, box: Box, lines: readonly Line[]): void {
  const values = lines[0]?.values ?? [];
  const last = values.findLast((value) => value !== undefined);
  const isAlarm = alarmFrom !== undefined && last !== undefined && last >= alarmFrom;
  const calm = alarmFrom === undefined ? '#0072b2' : '#3b8a4b';
  const colour = isAlarm ? '#c8283c' : calm;
  parts.graphic.push(
    textMark(
      last === undefined ? '–' : valueText(last, unit),
      box.left + 10,
      box.top + 32,
      26,
      colour,
      'bold',
    ),
  );
  const spark = { left: box.left + 1, top: box.top + 64, width: box.width - 2, height: box.height - 65 };
  addAxes(parts, spark, values.length, { show: false });
  parts.series.push({
    ...seriesOf(parts, values, colour),
    areaStyle: { color: colour, opacity: 0.15 },
    lineStyle: { width: 1, color: colour },
  });
}

function stateMarks(panel: States, box: Box, lines: readonly Line[], run: Run): Mark[] {
  const nameWidth = Math.max(...lines.map(({ name }) => textWidth(name, 12)), 0) + 20;
  const left = box.left + nameWidth;
  const perSecond = (box.width - nameWidth - 12) / run.seconds;
  const rowHeight = (box.height - PANEL_HEAD - 2 * LEGEND_LINE) / Math.max(lines.length, 1);
  const marks = lines.flatMap(({ name, values }, row): Mark[] => {
    const top = box.top + PANEL_HEAD + row * rowHeight;
    const height = rowHeight - 8;
    const segments = segmentsOf(values).map(({ value, from, to }) => {
      const colour = STATE_COLOURS[panel.states[value]?.colour ?? 'red'];
      const segment = { left: left + from * perSecond, top, width: (to - from) * perSecond, height };
      return boxMark(segment, colour, { z: 1 });
    });
    return [textMark(name, box.left + 10, top + height / 2 - 6, 12, FAINT), ...segments];
  });
  const texts = new Map(panel.states.map(({ text, colour }) => [text, STATE_COLOURS[colour]]));
  return [...marks, ...legendOf([...texts], box).marks, ...timeMarks(left, perSecond, box, run)];
}

function timeMarks(left: number, perSecond: number, box: Box, { seconds }: Run): Mark[] {
  const top = box.top + box.height - LEGEND_LINE - 22;
  const count = Math.floor(seconds / TICK_SECONDS);
  return Array.from({ length: count }, (_, tick) =>
    textMark(`${tick * TICK_SECONDS} s`, left + tick * TICK_SECONDS * perSecond, top, 10, FAINT),
  );
}

/** Joins seconds of one value. */
function segmentsOf(
  values: readonly (number | undefined)[],
): { readonly value: number; readonly from: number; readonly to: number }[] {
  const segments: { value: number; from: number; to: number }[] = [];
  for (const [second, value] of values.entries()) {
    const last = segments.at(-1);
    if (value === undefined || second === values.length - 1) continue;
    if (last?.value === value && last.to === second) last.to = second + 1;
    else segments.push({ value, from: second, to: second + 1 });
  }
  return segments;
}

function addGraph(parts: Parts, graph: Graph, box: Box, lines: readonly Line[], run: Run): void {
  const { kind, unit } = graph;
  const legend = lines.map(({ name }, index) => [name, PALETTE[index % PALETTE.length] ?? INK] as const);
  const { marks, height } = legendOf(legend, box);
  parts.graphic.push(...marks);
  const inner = {
    left: box.left + AXIS_WIDTH,
    top: box.top + PANEL_HEAD + 6,
    width: box.width - AXIS_WIDTH - 22,
    height: box.height - PANEL_HEAD - 6 - AXIS_HEIGHT - height - 8,
  };
  addAxes(parts, inner, run.seconds + 1, { show: true, unit, scale: scaleOf(lines, graph) });
  parts.graphic.push(
    ...run.incidents.map(({ fromSeconds, toSeconds }) => {
      const perSecond = inner.width / run.seconds;
      const from = inner.left + fromSeconds * perSecond;
      const shade = { ...inner, left: from, width: (toSeconds - fromSeconds) * perSecond };
      return boxMark(shade, SHADE);
    }),
  );
  if (lines.every(({ values }) => values.every((value) => value === undefined)))
    parts.graphic.push(
      textMark('no data', inner.left + inner.width / 2 - 20, inner.top + inner.height / 2 - 8, 12, FAINT),
    );
  const drawn = lines.length > 0 ? lines : [{ name: '', values: Array(run.seconds + 1).fill(undefined) }];
  for (const [index, { values }] of drawn.entries()) {
    const colour = PALETTE[index % PALETTE.length] ?? INK;
    const filled = kind === 'areas' ? values.map((value) => value ?? 0) : values;
    parts.series.push({
      ...seriesOf(parts, filled, colour),
      ...(kind === 'steps' ? { step: 'end' } : {}),
      ...(kind === 'areas'
        ? {
            stack: `panel ${parts.grid.length}`,
            areaStyle: { color: colour, opacity: AREA_OPACITY },
            lineStyle: { width: 0 },
          }
        : {}),
    });
  }
}

interface Scale {
  readonly max?: number;
  readonly interval?: number;
}

/** Returns the scale of bytes, in powers of two, and of a graph without values; echarts finds the others. */
function scaleOf(lines: readonly Line[], { kind, unit }: Graph): Scale {
  const largest = lines.map(({ values }) => Math.max(0, ...values.map((value) => value ?? 0)));
  const top = kind === 'areas' ? largest.reduce((sum, value) => sum + value, 0) : Math.max(0, ...largest);
  if (top === 0) return { max: 1, interval: 1 };
  if (unit !== 'bytes' && unit !== 'Bps') return {};
  const interval = 2 ** Math.ceil(Math.log2(top / LINES_MAX));
  return { max: interval * Math.ceil(top / interval), interval };
}

function seriesOf(parts: Parts, values: readonly (number | undefined)[], colour: string): object {
  const axis = parts.grid.length - 1;
  return {
    type: 'line',
    xAxisIndex: axis,
    yAxisIndex: axis,
    data: values.map((value) => (value === undefined ? '-' : Number(value.toPrecision(4)))),
    symbol: 'none',
    silent: true,
    lineStyle: { width: 1.4, color: colour },
    itemStyle: { color: colour },
  };
}

type Axes =
  | { readonly show: false }
  | {
      readonly show: true;
      readonly unit: Graph['unit'];
      readonly scale: Scale;
    };

function addAxes(parts: Parts, box: Box, count: number, axes: Axes): void {
  const gridIndex = parts.grid.length;
  const { show } = axes;
  parts.grid.push({ ...box, containLabel: false });
  parts.xAxis.push({
    gridIndex,
    show,
    type: 'category',
    boundaryGap: false,
    data: Array.from({ length: count }, (_, second) => second),
    axisLine: { lineStyle: { color: LINE } },
    axisTick: { show: false },
    axisLabel: { interval: TICK_SECONDS - 1, fontSize: 10, color: FAINT, formatter: '{value} s' },
  });
  parts.yAxis.push({
    gridIndex,
    show,
    type: 'value',
    min: 0,
    splitNumber: 3,
    ...(show ? axes.scale : {}),
    splitLine: { lineStyle: { color: LINE } },
    axisLabel: {
      fontSize: 10,
      color: FAINT,
      ...(show ? { formatter: (value: number) => valueText(value, axes.unit) } : {}),
    },
  });
}

/** Colours and names from the bottom of the panel upwards, in as many lines as they need. */
function legendOf(
  entries: readonly (readonly [name: string, colour: string])[],
  box: Box,
): { readonly marks: readonly Mark[]; readonly height: number } {
  const lines: (readonly [string, string, number])[][] = [[]];
  let left = 0;
  for (const [name, colour] of entries) {
    const width = textWidth(name, LEGEND_SIZE) + 26;
    if (left + width > box.width - 16 && left > 0) {
      lines.push([]);
      left = 0;
    }
    lines.at(-1)?.push([name, colour, left]);
    left += width;
  }
  const marks = lines.flatMap((line, index) => {
    const top = box.top + box.height - 6 - (lines.length - index) * LEGEND_LINE;
    return line.flatMap(([name, colour, from]) => {
      const dot = { left: box.left + 10 + from, top: top + 5, width: 12, height: 4 };
      return [boxMark(dot, colour, { z: 10 }), textMark(name, box.left + 26 + from, top, LEGEND_SIZE, FAINT)];
    });
  });
  return { marks, height: lines.length * LEGEND_LINE };
}
