/** Durations and sizes as people write them: `500ms`, `30s`, `1KiB`. */
const MS_BY_UNIT: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const BYTES_BY_UNIT: Readonly<Record<string, number>> = { B: 1, KiB: 1024, MiB: 2 ** 20 };
const AMOUNT = /^(?<value>\d+(?:\.\d+)?)(?<unit>[a-zA-Z]+)$/;

/** @returns NaN for a text that is not a duration with a unit */
export function durationMsOf(text: string): number {
  return amountOf(text, MS_BY_UNIT);
}

/** @returns NaN for a text that is not a size with a unit; a number is bytes */
export function bytesOf(size: string | number): number {
  return Math.round(typeof size === 'number' ? size : amountOf(size, BYTES_BY_UNIT));
}

/** 1.5s, 40ms */
export function durationText(ms: number): string {
  return ms >= 1000 ? `${Math.round(ms) / 1000}s` : `${Math.round(ms * 100) / 100}ms`;
}

function amountOf(text: string, units: Readonly<Record<string, number>>): number {
  const { value, unit = '' } = AMOUNT.exec(text)?.groups ?? {};
  return Number(value) * (units[unit] ?? Number.NaN);
}
