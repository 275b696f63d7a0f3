/** The figures of a comparison as text, for the terminal and for the page. Pure. */
import type { ComparedFigure, ComparedThreshold } from './compare.ts';
import { figureText } from './verdict-section.ts';
import { DASH, valueText } from './value-text.ts';

/** Returns `+1.2 ms`; `=` for no difference. */
export function differenceText({ difference, unit }: ComparedFigure): string {
  if (difference === null) return DASH;
  if (difference === 0) return '=';
  return `${difference > 0 ? '+' : ''}${valueText(difference, unit)}`;
}

/** Returns `+12.5 %`; '' if there is no value before, or no difference. */
export function percentText({ percent, difference }: ComparedFigure): string {
  if (percent === null || difference === 0) return '';
  const size = Math.abs(percent);
  return `${percent > 0 ? '+' : '-'}${size.toFixed(size < 10 ? 1 : 0)} %`;
}

/** Returns a figure of a threshold, with the outcome. */
export function outcomeText(result: ComparedThreshold['before']): string {
  if (!result) return 'not in this run';
  return `${result.isMet ? 'met' : 'MISSED'} (${figureText(result)})`;
}
