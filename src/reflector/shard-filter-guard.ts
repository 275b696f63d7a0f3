/**
 * The client's own filter of an informer with a shard selector, and what it shows about the server. Servers before
 * Kubernetes 1.36, and those without the feature gate, ignore the selector and send every object. Servers that filter
 * confirm it in typed lists only, not in watches, streaming lists, and lists of custom resources or of metadata. So the
 * client filters always, and judges the server by what it has sent.
 */
import type { KeySpans } from '../kube/json/key-spans.ts';
import { ShardFilter } from '../kube/shard-filter.ts';
import type { ShardSelector } from '../kube/shard-selector.ts';
import { ActivityCounter } from '../shared/activity.ts';
import type { ShardFilterSupport } from '../shared/activity.ts';

export class ShardFilterGuard {
  readonly #filter: ShardFilter;
  readonly #counts: Float64Array;
  readonly #onChange: (filtering: ShardFilterSupport) => void;
  #filtering: ShardFilterSupport | undefined;
  #hasOwn = false;
  #hasForeign = false;
  #isEchoed = false;

  /** @param counts the counters of the reflector @param onChange called when the server proves to be another */
  constructor(
    selector: ShardSelector,
    counts: Float64Array,
    onChange: (filtering: ShardFilterSupport) => void,
  ) {
    this.#filter = new ShardFilter(selector);
    this.#counts = counts;
    this.#onChange = onChange;
  }

  /** Decides about an object, and counts objects that are not admitted. An object never moves to another shard. */
  admits(bytes: Buffer, spans: KeySpans): boolean {
    const isOwn =
      this.#filter.key === 'uid'
        ? this.#filter.matches(bytes, spans.uidStart, spans.uidEnd)
        : this.#filter.matches(bytes, spans.namespaceStart, spans.namespaceEnd);
    if (isOwn) {
      this.#hasOwn = true;
      return true;
    }
    (this.#counts[ActivityCounter.OtherShard] as number)++;
    this.#hasForeign = true;
    this.#become('ignored');
    return false;
  }

  /** Begins a list, whose objects and pages are judged together. */
  beginList(): void {
    this.#hasOwn = false;
    this.#hasForeign = false;
    this.#isEchoed = false;
  }

  /** Takes the metadata of a page. @param isEchoed the server repeats the selector by which it filtered */
  page(isEchoed: boolean): void {
    this.#isEchoed ||= isEchoed;
  }

  /** Ends a complete list. A list without objects and confirmation is no evidence. */
  endList(): void {
    if (this.#hasForeign) return;
    if (this.#isEchoed) this.#become('filtered');
    else if (this.#hasOwn) this.#become('filtered-without-echo');
  }

  #become(filtering: ShardFilterSupport): void {
    if (this.#filtering === filtering) return;
    this.#filtering = filtering;
    this.#onChange(filtering);
  }
}
