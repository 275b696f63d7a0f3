/** Figures as text for people: short, with a unit, and three significant digits. */

/** A share is of 1. */
export type Unit = 'ms' | 'bytes' | 'count' | 'perSecond' | 'cpu' | 'share';

/** Text for a missing figure. */
export const DASH = '–';
const MINUTE_MS = 60_000;
const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

export function valueText(value: number | null, unit: Unit): string {
  if (value === null) return DASH;
  switch (unit) {
    case 'ms':
      return timeText(value);
    case 'bytes':
      return bytesText(value);
    case 'count':
      return countText(value);
    case 'perSecond':
      return `${Math.abs(value) < 100 ? digits(value) : countText(value)}/s`;
    case 'cpu':
      return `${digits(value)} CPU`;
    case 'share':
      return `${digits(value * 100)} %`;
    default:
      return unit satisfies never;
  }
}

/** 200,000 */
export function countText(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** 850 µs, 3.2 ms, 1.24 s, 2 min 5 s */
export function timeText(ms: number): string {
  const size = Math.abs(ms);
  if (size === 0) return '0 ms';
  if (size < 0.9995) return `${digits(ms * 1000)} µs`;
  if (size < 999.5) return `${digits(ms)} ms`;
  if (size < MINUTE_MS * 2) return `${digits(ms / 1000)} s`;
  const seconds = Math.round(size / 1000);
  const text = `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return ms < 0 ? `-${text}` : text;
}

function bytesText(bytes: number): string {
  let scaled = bytes;
  let unit = 0;
  for (; Math.abs(scaled) >= 1000 && unit < BYTE_UNITS.length - 1; unit++) scaled /= 1024;
  return `${digits(scaled)} ${BYTE_UNITS[unit]}`;
}

/** Returns at most three significant digits, and all digits before the point. */
function digits(value: number): string {
  const size = Math.abs(value);
  const decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  return Number(value.toFixed(decimals)).toLocaleString('en-US', { maximumFractionDigits: 2 });
}
