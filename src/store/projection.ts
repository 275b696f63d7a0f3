/**
 * The projected fields of one object: what a shard extracted from its bytes so that selectors, indexes and
 * most handlers never parse the object. States that differ, before managedFields, in nothing but their version share one
 * projection, and with it their parsed metadata (docs/decisions/0015).
 *
 * The text is a JSON array, `[uid, generation, deletionTimestamp, controllerUid, labels, …fields, modules?]`,
 * kept as a latin1 string (one character a byte) so that comparing it with the next one is one memcmp.
 */

const UID = 0;
const GENERATION = 1;
const DELETION_TIMESTAMP = 2;
const CONTROLLER_UID = 3;
const LABELS = 4;
const FIELDS = 5;

export type Labels = Readonly<Record<string, string>>;
const NO_LABELS: Labels = Object.freeze({});

export class Projection {
  /** The bytes of the JSON array, one character each. */
  readonly text: string;
  /** More than one state has it. */
  isShared = false;
  /** Parsed, without managedFields, of one of the states that share this; the others have another version. */
  metadata: object | undefined = undefined;
  #values: readonly unknown[] | undefined;

  constructor(text: string) {
    this.text = text;
  }

  /** The same fields, for a state whose metadata may be other in what is no field. */
  renewed(): Projection {
    const projection = new Projection(this.text);
    projection.#values = this.#values;
    return projection;
  }

  forgetDecoded(): void {
    this.metadata = undefined;
  }

  get uid(): string {
    const uid = this.#at(UID);
    return typeof uid === 'string' ? uid : '';
  }

  get generation(): number | undefined {
    const generation = this.#at(GENERATION);
    return typeof generation === 'number' ? generation : undefined;
  }

  get deletionTimestamp(): string | undefined {
    const timestamp = this.#at(DELETION_TIMESTAMP);
    return typeof timestamp === 'string' ? timestamp : undefined;
  }

  get controllerUid(): string | undefined {
    const uid = this.#at(CONTROLLER_UID);
    return typeof uid === 'string' ? uid : undefined;
  }

  get labels(): Labels {
    const labels = this.#at(LABELS);
    return typeof labels === 'object' && labels !== null ? (labels as Labels) : NO_LABELS;
  }

  /** The declared field with this number; undefined when the object does not have it. */
  field(index: number): unknown {
    return this.#at(FIELDS + index) ?? undefined;
  }

  /** Values that index modules computed on the shard, by index name. */
  moduleValues(fieldCount: number): Readonly<Record<string, readonly string[]>> | undefined {
    const values = this.#at(FIELDS + fieldCount);
    return values ? (values as Readonly<Record<string, readonly string[]>>) : undefined;
  }

  #at(index: number): unknown {
    this.#values ??= parse(this.text);
    return this.#values[index];
  }
}

function parse(text: string): readonly unknown[] {
  if (text === '') return [];
  // Only non-ASCII text needs the detour over bytes.
  // oxlint-disable-next-line no-control-regex -- U+0080 and above are what is looked for
  const json = /[^\u0000-\u007f]/.test(text) ? Buffer.from(text, 'latin1').toString('utf8') : text;
  const values: unknown = JSON.parse(json);
  if (!Array.isArray(values)) return [];
  freezeAll(values);
  return values;
}

/** Entries of unchanged fields share these values, so nobody may write to them, at any depth. */
function freezeAll(values: object): void {
  for (const value of Object.values(values)) {
    if (typeof value === 'object' && value !== null) freezeAll(value);
  }
  Object.freeze(values);
}
