/**
 * The script of a report's page, which draws the plots with uPlot. The page contains the compiled text of this file and
 * of uPlot. So this file imports only types, and declares the few members of the document that it uses.
 */
import type uPlot from 'uplot';
import type { Line, Plot, PlotData, Timeline } from '../plot.ts';

interface PageElement {
  readonly textContent: string;
  readonly clientWidth: number;
}

interface Page {
  getElementById(id: string): PageElement | null;
}

interface MediaQuery {
  addEventListener(type: 'change', listener: () => void): void;
}

interface Surroundings {
  readonly document: Page;
  readonly uPlot: PlotClass;
  /** Returns the value of a CSS variable. */
  readonly style: (name: string) => string;
  /** Returns a figure as text. */
  readonly text: (value: number | null, unit: Plot['y']['unit']) => string;
  readonly darkness: MediaQuery;
  readonly onResize: (element: PageElement, listener: () => void) => void;
}

interface DrawnPlot {
  readonly ctx: Canvas;
  readonly bbox: {
    readonly left: number;
    readonly top: number;
    readonly width: number;
    readonly height: number;
  };
  valToPos(value: number, scale: string, isCanvas: boolean): number;
  setSize(size: { readonly width: number; readonly height: number }): void;
  destroy(): void;
}

interface PlotClass {
  new (
    options: uPlot.Options,
    data: readonly (readonly (number | null)[])[],
    element: PageElement,
  ): DrawnPlot;
  readonly pxRatio: number;
  readonly paths: { readonly stepped: (options: { readonly align: 1 }) => uPlot.Series.PathBuilder };
}

interface Canvas {
  fillStyle: string;
  strokeStyle: string;
  font: string;
  lineWidth: number;
  textAlign: string;
  textBaseline: string;
  save(): void;
  restore(): void;
  beginPath(): void;
  rect(left: number, top: number, width: number, height: number): void;
  clip(): void;
  fillRect(left: number, top: number, width: number, height: number): void;
  fillText(text: string, left: number, top: number): void;
  measureText(text: string): { readonly width: number };
  setLineDash(lengths: readonly number[]): void;
  moveTo(left: number, top: number): void;
  lineTo(left: number, top: number): void;
  stroke(): void;
}

const HEIGHT = 210;
const DISTRIBUTION = { linear: 1, log: 3, asinh: 4 } as const;
/** Below this, the axis of both signs is linear. */
const LINEAR_MS = 0.1;

export function drawAll(data: PlotData, around: Surroundings): void {
  let drawn: DrawnPlot[] = [];
  const draw = (): void => {
    for (const plot of drawn) plot.destroy();
    drawn = data.plots.flatMap((plot) => {
      const element = around.document.getElementById(plot.id);
      if (!element) return [];
      const columns = [plot.x.values, ...plot.lines.map(({ values }) => values)];
      return [new around.uPlot(optionsOf(plot, data, element.clientWidth, around), columns, element)];
    });
  };
  draw();
  around.darkness.addEventListener('change', draw);
  const [first] = data.plots;
  const element = first && around.document.getElementById(first.id);
  if (!element) return;
  let width = element.clientWidth;
  around.onResize(element, () => {
    if (element.clientWidth === width) return;
    width = element.clientWidth;
    draw();
  });
}

function optionsOf(plot: Plot, data: PlotData, width: number, around: Surroundings): uPlot.Options {
  const { x, y } = plot;
  const { style, text } = around;
  const axis = {
    stroke: style('--muted'),
    font: `11px ${style('--sans')}`,
    grid: { stroke: style('--grid'), width: 1 },
    ticks: { show: false },
  };
  const isTime = x.type === 'time';
  const timeline = isTime ? data.timelines[x.timeline] : undefined;
  const xText = (value: number): string =>
    isTime ? clock(value) : (x.labels[value - (x.values[0] ?? 0)] ?? '');
  const binText = (value: number): string =>
    isTime ? clock(value) : `${xText(value)} to ${xText(value + 1)}`;
  const hooks: uPlot.Options['hooks'] = timeline
    ? { drawClear: [shades(timeline, around)], draw: [marks(timeline, around)] }
    : {};
  return {
    width,
    height: HEIGHT,
    padding: [timeline ? 18 : 10, isTime ? 10 : 24, 0, 0],
    cursor: {
      points: { size: 6 },
      y: false,
      drag: { x: isTime, y: false },
      ...(isTime ? { sync: { key: `t${x.timeline}` } } : {}),
    },
    scales: {
      x: { time: false, ...(isTime ? { range: rangeOfTime(x.endSeconds) } : {}) },
      y: scaleOf(y),
    },
    axes: [
      {
        ...axis,
        space: 70,
        size: 30,
        values: (_: unknown, splits: readonly number[]) => splits.map(xText),
        ...(isTime ? { incrs: SECONDS } : { splits: () => [...x.ticks] }),
      },
      {
        ...axis,
        grid: { ...axis.grid, ...(y.scale === 'linear' ? {} : { filter: powersOfTen }) },
        ...(y.unit === 'bytes' && y.scale === 'linear' ? { incrs: POWERS_OF_TWO } : {}),
        ...(y.unit === 'count' ? { incrs: WHOLE_NUMBERS } : {}),
        size: 72,
        values: (_: unknown, splits: readonly (number | null)[]) =>
          splits.map((value) => (value === null ? '' : text(value, y.unit))),
      },
    ],
    series: [
      { label: ' ', value: (_: unknown, value: number | null) => (value === null ? '' : binText(value)) },
      ...plot.lines.map((line) => seriesOf(line, y.unit, around)),
    ],
    legend: {
      markers: {
        width: 0,
        fill: (_: unknown, index: number) => style(`--c${(plot.lines[index - 1]?.color ?? 0) % 8}`),
      },
    },
    hooks,
  };
}

function scaleOf({ scale, max }: Plot['y']): object {
  const distr = DISTRIBUTION[scale];
  return scale === 'linear' ? { distr, range: fromZero(max) } : { distr, asinh: LINEAR_MS };
}

function powersOfTen(_: unknown, splits: readonly number[]): (number | null)[] {
  return splits.map((value) =>
    Math.abs(Math.log10(Math.abs(value)) % 1) < 1e-6 || value === 0 ? value : null,
  );
}

const SECONDS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400];

/** Distances of the lines of an axis that counts: 1, 2, 5, 10, … */
const WHOLE_NUMBERS = Array.from({ length: 13 }, (_, power) =>
  [1, 2, 5].map((step) => step * 10 ** power),
).flat();

const POWERS_OF_TWO = Array.from({ length: 50 }, (_, power) => 2 ** power);

function rangeOfTime(
  endSeconds: number,
): (plot: unknown, min: number | null, max: number | null) => [number, number] {
  // A selection brings limits; the whole data begins at 0.
  return (_, min, max) => [min ?? 0, min === 0 || max === null ? endSeconds : max];
}

function fromZero(
  highest: number | null,
): (plot: unknown, min: number | null, max: number | null) => [number, number] {
  return (_, min, max) => [Math.min(0, min ?? 0), Math.max(max ?? 0, highest ?? 0) * 1.08 || 1];
}

function seriesOf(
  line: Line,
  unit: Plot['y']['unit'],
  { style, text, uPlot: { paths } }: Surroundings,
): uPlot.Series {
  const color = style(`--c${line.color % 8}`);
  const { style: kind } = line;
  return {
    label: line.label,
    stroke: kind === 'faint' ? `${color}66` : color,
    width: kind === 'faint' ? 1 : 1.6,
    spanGaps: line.isSparse,
    points: { show: line.isSparse, size: 4 },
    value: (_: unknown, value: number | null) => (value === null ? '' : text(value, unit)),
    ...(kind === 'dashed' ? { dash: [5, 4] } : {}),
    ...(kind === 'area' || kind === 'steps' ? { fill: `${color}26` } : {}),
    ...(kind === 'steps' ? { paths: paths.stepped({ align: 1 }) } : {}),
  };
}

/** Shades every second phase, and writes the name above each. */
function shades({ phases }: Timeline, { style, uPlot }: Surroundings): (plot: DrawnPlot) => void {
  return (plot) => {
    const { ctx, bbox } = plot;
    const { pxRatio } = uPlot;
    ctx.save();
    ctx.font = `${11 * pxRatio}px ${style('--sans')}`;
    ctx.textAlign = 'left';
    ctx.textBaseline = 'bottom';
    for (const [index, { name, from, to }] of phases.entries()) {
      const left = Math.max(bbox.left, plot.valToPos(from, 'x', true));
      const right = Math.min(bbox.left + bbox.width, plot.valToPos(to, 'x', true));
      if (right <= left) continue;
      ctx.fillStyle = style(index % 2 === 0 ? '--shade' : '--shade-2');
      ctx.fillRect(left, bbox.top, right - left, bbox.height);
      ctx.fillStyle = style('--muted');
      if (ctx.measureText(name).width < right - left - 6 * pxRatio)
        ctx.fillText(name, left + 4 * pxRatio, bbox.top - 3 * pxRatio);
    }
    ctx.restore();
  };
}

function marks(timeline: Timeline, { style, uPlot }: Surroundings): (plot: DrawnPlot) => void {
  return (plot) => {
    const { ctx, bbox } = plot;
    const { pxRatio } = uPlot;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.lineWidth = pxRatio;
    ctx.setLineDash([3 * pxRatio, 3 * pxRatio]);
    for (const { atSeconds, type } of timeline.marks) {
      const left = Math.round(plot.valToPos(atSeconds, 'x', true));
      ctx.strokeStyle = style(`--${type}`);
      ctx.beginPath();
      ctx.moveTo(left, bbox.top);
      ctx.lineTo(left, bbox.top + bbox.height);
      ctx.stroke();
      ctx.fillStyle = style(`--${type}`);
      ctx.fillRect(left - 2 * pxRatio, bbox.top, 4 * pxRatio, 4 * pxRatio);
    }
    ctx.restore();
  };
}

/** 1:05, 1:00:05 */
export function clock(seconds: number): string {
  const whole = Math.floor(seconds);
  const minutes = Math.floor(whole / 60);
  const rest = String(whole % 60).padStart(2, '0');
  return minutes < 60
    ? `${minutes}:${rest}`
    : `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}:${rest}`;
}
