/** I17: no queue exceeds its bound. I18: every fault is reported, and nothing else is. */
import type { FaultRecord, Histories, ReportRecord } from '../histories.ts';
import type { JudgeOptions } from '../run-view.ts';
import { violation } from '../violation.ts';
import type { Violation } from '../violation.ts';

export function checkBounds({ gauges }: Histories): Violation[] {
  return gauges.flatMap(({ name, value, bound, at }) =>
    value <= bound ? [] : [violation('I17', `${name} held ${value}, and may hold ${bound}`, at)],
  );
}

export function checkSurfacing({ faults, reports }: Histories, options: JudgeOptions): Violation[] {
  const silent = faults.filter((fault) => fault.landedAt !== undefined && !isReported(fault, reports));
  const unexpected = reports.filter(({ code }) => options.codes?.includes(code) === false);
  return [
    ...silent.map(({ id, kind, codes = [], landedAt }) =>
      violation('I18', `${kind} (${id}) was not reported as ${codes.join(' or ')}`, landedAt),
    ),
    ...unexpected.map(({ code, message, at }) =>
      violation('I18', `reported without a reason: ${code} ${message}`, at),
    ),
  ];
}

function isReported({ codes = [], landedAt = 0 }: FaultRecord, reports: readonly ReportRecord[]): boolean {
  if (codes.length === 0) return true;
  return reports.some(({ code, at }) => codes.includes(code) && (at === undefined || at >= landedAt));
}
