/**
 * Watches of objects from 10 KB to 1.5 MB, the sizes of kubernetes/kubernetes#138841: what an event costs when the object is
 * read in part, and in full.
 */
import type { BenchCase } from '../case.ts';
import type { ClientName } from '../names.ts';
import type { Handler } from '../task.ts';

const KB = 1000;
const MB = 1000 * KB;
const SIZES = [10 * KB, 15 * KB, 20 * KB, 30 * KB, 100 * KB, 500 * KB, 1.5 * MB];
const CACHED_BYTES = 100 * MB;
const CACHED_MAX = 10_000;
const EVENTS_MIN = 40;
/** Bytes of events. The largest sum is the length of the source: a backlog above half of `backlogBytesMax` would combine changes. */
const COMPILED = { 'client-go': 40 * MB, 'client-go-protobuf': 300 * MB, 'kube-rs': 200 * MB } as const;
const READ_IN_PART = { kubeloom: 400 * MB, 'client-node': 200 * MB, ...COMPILED } as const;
const READ_IN_FULL = { kubeloom: 400 * MB, 'client-node': 200 * MB } as const;

function pods(
  objectBytes: number,
  handler: Handler,
  bytes: Readonly<Partial<Record<ClientName, number>>>,
): BenchCase {
  const cached = Math.min(CACHED_MAX, Math.floor(CACHED_BYTES / objectBytes));
  const events = Object.entries(bytes).map(
    ([client, sent]) => [client, Math.max(EVENTS_MIN, Math.floor(sent / objectBytes))] as const,
  );
  return {
    suite: 'sizes',
    name: 'pods',
    tier: handler === 'fields' ? 'default' : 'standard',
    source: {
      pods: cached,
      objectBytes,
      events: Math.max(...events.map(([, count]) => count)),
      quietMs: 500,
    },
    task: { case: 'watch', handler },
    clients: Object.fromEntries(events),
  };
}

export const SIZES_CASES: readonly BenchCase[] = SIZES.flatMap((objectBytes) => [
  pods(objectBytes, 'fields', READ_IN_PART),
  pods(objectBytes, 'object', READ_IN_FULL),
]);
