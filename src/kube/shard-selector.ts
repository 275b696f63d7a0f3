/**
 * Shard selectors of Kubernetes' sharded LIST and WATCH (KEP-5866): ranges of the hash of each object's uid or
 * namespace. `shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')` is half of all objects;
 * `||` joins ranges.
 */
import { KubeloomError } from '../base/errors.ts';
import { anArray, shown } from '../base/option-checks.ts';

/** A range of hashes, as the server writes them: `start` belongs to it, `end` does not. */
export interface ShardRange {
  /** `0x` and 16 hexadecimal digits in lower case. */
  readonly start: string;
  /** The same form, or `0x10000000000000000`, the end of all hashes. */
  readonly end: string;
}

/** The objects whose hash is in any of the ranges. */
export interface ShardSelector {
  /**
   * The text that is hashed. Uids spread objects evenly. `namespace` keeps the objects of a namespace together, but
   * namespaces whose names differ at the end only are mostly in the same partition; cluster-scoped objects have an empty text.
   */
  readonly key: 'uid' | 'namespace';
  /** At least one. */
  readonly ranges: readonly ShardRange[];
}

/** Partitions of equal width that `partitionRanges` selects from by default. */
const PARTITIONS = 16;
/** More partitions would make selectors that no URL holds. */
const PARTITIONS_MAX = 256;
const HASHES = 2n ** 64n;
const BOUND = /^0x(?:[\da-f]{16}|10{16})$/;
const RANGE = /^\s*shardRange\(\s*object\.metadata\.(uid|namespace)\s*,\s*'([^']*)'\s*,\s*'([^']*)'\s*\)\s*$/;

/**
 * Returns the selector of some of `count` partitions, which have equal parts of all hashes. @throws ERR_KUBELOOM_SELECTOR
 * when a partition is not within 0 to count - 1
 */
export function partitionRanges(
  partitions: readonly number[],
  count: number = PARTITIONS,
  key: ShardSelector['key'] = 'uid',
): ShardSelector {
  if (!Number.isInteger(count) || count < 1 || count > PARTITIONS_MAX) {
    throw selectorError(
      `the number of partitions must be an integer from 1 to ${PARTITIONS_MAX}, got ${shown(count)}`,
    );
  }
  anArray('partitions', partitions);
  const ranges = partitions.map((partition) => {
    if (!Number.isInteger(partition) || partition < 0 || partition >= count) {
      throw selectorError(`a partition must be an integer from 0 to ${count - 1}, got ${shown(partition)}`);
    }
    return { start: boundOfPartition(partition, count), end: boundOfPartition(partition + 1, count) };
  });
  const selector = { key, ranges };
  checkShardSelector(selector);
  return selector;
}

/** Returns the selector as the server reads it. @throws ERR_KUBELOOM_SELECTOR */
export function shardSelectorText(selector: ShardSelector): string {
  checkShardSelector(selector);
  const { key, ranges } = selector;
  return ranges
    .map(({ start, end }) => `shardRange(object.metadata.${key}, '${start}', '${end}')`)
    .join(' || ');
}

/** Parses the server's text. @throws ERR_KUBELOOM_SELECTOR when it is malformed, or its ranges are of two keys */
export function parseShardSelector(text: string): ShardSelector {
  if (typeof text !== 'string') throw selectorError(`a shard selector must be a string, got ${shown(text)}`);
  const terms = text.split('||').map((term) => {
    const [, key, start, end] = RANGE.exec(term) ?? [];
    if ((key === 'uid' || key === 'namespace') && start !== undefined && end !== undefined) {
      return { key, range: { start, end } } as const;
    }
    throw selectorError(
      `invalid shard selector: can't understand '${term.trim()}'; write shardRange(object.metadata.uid, '0x…', '0x…')`,
    );
  });
  const [first] = terms;
  if (first === undefined || terms.some(({ key }) => key !== first.key)) {
    throw selectorError(`invalid shard selector: '${text}'; all ranges must be of one key`);
  }
  const selector = { key: first.key, ranges: terms.map(({ range }) => range) };
  checkShardSelector(selector);
  return selector;
}

/** Checks a selector. @throws ERR_KUBELOOM_SELECTOR */
export function checkShardSelector(selector: unknown): asserts selector is ShardSelector {
  const { key, ranges } = (selector ?? {}) as Partial<Record<keyof ShardSelector, unknown>>;
  if (key !== 'uid' && key !== 'namespace') {
    throw selectorError(`the key of a shard selector must be 'uid' or 'namespace', got ${shown(key)}`);
  }
  if (!Array.isArray(ranges) || ranges.length === 0) {
    throw selectorError('a shard selector must have at least one range: without one it selects nothing');
  }
  for (const range of ranges as readonly unknown[]) {
    const { start, end } = (range ?? {}) as Partial<Record<keyof ShardRange, unknown>>;
    if (hashOfBound(start) >= hashOfBound(end)) {
      const shown = `${String(start)} to ${String(end)}`;
      throw selectorError(`a range of a shard selector must end after its start, got ${shown}`);
    }
  }
}

/** Returns the number of a bound. @throws ERR_KUBELOOM_SELECTOR */
export function hashOfBound(bound: unknown): bigint {
  if (typeof bound === 'string' && BOUND.test(bound)) return BigInt(bound);
  throw selectorError(
    `a bound of a shard selector must be '0x' and 16 digits 0-9a-f, or '0x10000000000000000', got ${shown(bound)}`,
  );
}

function boundOfPartition(partition: number, count: number): string {
  return `0x${((BigInt(partition) * HASHES) / BigInt(count)).toString(16).padStart(16, '0')}`;
}

function selectorError(why: string): KubeloomError {
  return new KubeloomError('ERR_KUBELOOM_SELECTOR', why);
}
