/** Parts of the picture that are plain rectangles and texts, and the texts of values. */
import type { Unit } from './panel.ts';

/** A place in the picture, in pixels. */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** An element of echarts' option `graphic`. */
export type Mark = Readonly<Record<string, unknown>>;

export const FONT = 'DejaVu Sans, Verdana, sans-serif';
export const INK = '#24292f';
export const FAINT = '#6e7781';
export const LINE = '#e4e7eb';
/** Distinguishable for readers with red-green colour blindness (Okabe and Ito), then darker ones of the same. */
export const PALETTE: readonly string[] = [
  '#0072b2',
  '#e69f00',
  '#009e73',
  '#cc79a7',
  '#56b4e9',
  '#d55e00',
  '#7f7f7f',
  '#004a75',
];
/** DejaVu Sans is about this wide, as a share of its size. */
const CHARACTER_WIDTH = 0.58;
const CAPITAL_WIDTH = 0.68;

export function textMark(
  text: string,
  left: number,
  top: number,
  size: number,
  colour: string = INK,
  weight: 'normal' | 'bold' = 'normal',
): Mark {
  const style = { text, font: `${weight} ${size}px ${FONT}`, fill: colour };
  return { type: 'text', left, top, silent: true, z: 10, style };
}

export function boxMark(
  box: Box,
  fill: string,
  options: { stroke?: string; z?: number; r?: number } = {},
): Mark {
  const { stroke, z = 0, r = 0 } = options;
  const { left: x, top: y, width, height } = box;
  const style = stroke === undefined ? { fill } : { fill, stroke, lineWidth: 1 };
  return { type: 'rect', silent: true, z, shape: { x, y, width, height, r }, style };
}

/** Estimates the width of a text in pixels: the pictures are drawn where no font is installed, too. */
export function textWidth(text: string, size: number): number {
  const capitals = text.match(/[A-Z_]/g)?.length ?? 0;
  return size * ((text.length - capitals) * CHARACTER_WIDTH + capitals * CAPITAL_WIDTH);
}

/** Returns a value with its unit, at most three digits. */
export function valueText(value: number, unit: Unit): string {
  if (unit === 'percentunit') return `${digits(value * 100)} %`;
  if (unit === 's') return secondsText(value);
  if (unit === 'short') return scaled(value, 1000, ['', 'k', 'M']);
  return scaled(value, 1024, [' B', ' KiB', ' MiB', ' GiB']) + (unit === 'Bps' ? '/s' : '');
}

function secondsText(value: number): string {
  if (value === 0) return '0 s';
  if (value < 0.001) return `${digits(value * 1e6)} µs`;
  return value < 1 ? `${digits(value * 1000)} ms` : `${digits(value)} s`;
}

function scaled(value: number, step: number, units: readonly string[]): string {
  let index = 0;
  let rest = value;
  while (rest >= step && index < units.length - 1) {
    rest /= step;
    index++;
  }
  return `${digits(rest)}${units[index]}`;
}

function digits(value: number): string {
  return String(Number(value.toPrecision(value >= 100 ? Math.ceil(Math.log10(value + 1)) : 3)));
}
