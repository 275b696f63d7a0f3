/** Arguments of options, checked and converted. The error for a wrong value names the allowed values. */
import type { Codec } from '../../index.ts';
import { invalidOption, checkInteger, checkNumber } from '../../base/option-checks.ts';

export type Rate = number | 'max';

const PODS_MAX = 1_000_000;
const RATE_MAX = 1_000_000;
const SECONDS_MAX = 86_400;

export function parseCount(name: string, min: number, max: number): (text: string) => number {
  return (text) => {
    const value = numberOf(text);
    if (Number.isNaN(value)) invalidOption(name, text, `an integer from ${min} to ${max}`);
    checkInteger(name, value, min, max);
    return value;
  };
}

export const parsePods: (text: string) => number = parseCount('--pods', 1, PODS_MAX);
export const parsePort: (text: string) => number = parseCount('--port', 0, 65_535);
export const parseThreads: (text: string) => number = parseCount('--threads', 0, 64);
export const parseObjectBytes: (text: string) => number = parseCount('--object-bytes', 1024, 2 ** 20);

export function parseSeconds(text: string): number {
  const value = numberOf(text.replace(/s$/, ''));
  if (Number.isNaN(value)) invalidOption('--duration', text, 'a number of seconds');
  checkNumber('--duration', value, 0.1, SECONDS_MAX);
  return value;
}

/** A fixed rate, for a load that is compared with the received changes. */
export const parseFixedRate: (text: string) => number = parseCount('--rate', 1, RATE_MAX);

export function parseRate(text: string): Rate {
  if (text === 'max') return text;
  const value = numberOf(text);
  if (!Number.isInteger(value) || value < 1 || value > RATE_MAX) {
    invalidOption('--rate', text, `an integer from 1 to ${RATE_MAX}, or max`);
  }
  return value;
}

export function parseCodec(text: string): Codec {
  if (text !== 'json' && text !== 'msgpack') invalidOption('--codec', text, 'json or msgpack');
  return text;
}

/** Only digits: `1e3`, `0x10`, `` and blanks are typing errors, not numbers. */
function numberOf(text: string): number {
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
}
