/** I15: the requests that an informer may make. I16: their rate. */
import type { WireRecord } from '../histories.ts';
import type { InformerView, JudgeOptions, RunView } from '../run-view.ts';
import { violation } from '../violation.ts';
import type { Violation } from '../violation.ts';

type Request = Extract<WireRecord, { readonly what: 'request' }>;

export function checkAsking({ informers, options }: RunView): Violation[] {
  return informers.flatMap((informer) => [
    ...checkRequests(informer, options),
    ...checkRate(informer, options),
  ]);
}

function checkRequests({ name, scope, wire }: InformerView, { mayLoseLists }: JudgeOptions): Violation[] {
  const found: Violation[] = [];
  const complain = (request: Request, why: string): void => {
    const query = new URLSearchParams(request.query).toString();
    found.push(violation('I15', `${name} requested ${request.method} ?${query}: ${why}`, request.at));
  };
  let hasListed = false;
  for (const record of wire) {
    if (record.what === 'listed') hasListed = mayLoseLists !== true;
    if (record.what !== 'request') continue;
    const { limit, resourceVersion = '', continue: token } = record.query;
    if (record.method !== 'GET') complain(record, 'an informer only reads');
    if (record.isWatch) continue;
    if (hasListed && resourceVersion === '0')
      complain(record, 'any version, although it has seen a later one');
    const isAtVersion = resourceVersion !== '' && resourceVersion !== '0' && token === undefined;
    const isExact = record.query['resourceVersionMatch'] === 'Exact';
    if (limit !== undefined && isAtVersion && !isExact && scope.pageSize === undefined)
      complain(record, 'pages of a list that is not older than a version');
    if (token !== undefined && resourceVersion !== '') complain(record, 'a version beside a continue token');
  }
  return found;
}

function checkRate({ name, wire }: InformerView, { requestsMax }: JudgeOptions): Violation[] {
  if (!requestsMax) return [];
  const times = wire.flatMap((record) =>
    record.what === 'request' && record.at !== undefined ? [record.at] : [],
  );
  const { count, windowMs } = requestsMax;
  const first = times.findIndex((at, index) => (times[index + count] ?? Infinity) - at < windowMs);
  if (first < 0) return [];
  return [violation('I16', `${name} made more than ${count} requests in ${windowMs} ms`, times[first])];
}
