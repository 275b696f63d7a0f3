/**
 * The extracted fields of an object besides its uid. Siblings have the same ones: pods of one ReplicaSet share their
 * labels, their controller and most declared fields. Objects with equal text share one instance, whose values are
 * parsed once (docs/decisions/0017).
 *
 * The text is the rest of a JSON array, `,generation,deletionTimestamp,controllerUid,labels,…fields,modules?]`, as a
 * latin1 string (one character a byte), so that comparing it with the next one is one memcmp.
 */

const GENERATION = 0;
const DELETION_TIMESTAMP = 1;
const CONTROLLER_UID = 2;
const LABELS = 3;
const FIELDS = 4;

export type Labels = Readonly<Record<string, string>>;
const NO_LABELS: Labels = Object.freeze({});

export class ProjectedFields {
  /** Bytes of the rest of the array, one character each; '' without an array. */
  readonly text: string;
  #values: readonly unknown[] | undefined;

  constructor(text: string) {
    this.text = text;
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

  /** Returns the declared field with this number; undefined when the object does not have it. */
  field(index: number): unknown {
    return this.#at(FIELDS + index) ?? undefined;
  }

  /** Returns the values that index modules computed on the shard, by index name. */
  moduleValues(fieldCount: number): Readonly<Record<string, readonly string[]>> | undefined {
    const values = this.#at(FIELDS + fieldCount);
    return values ? (values as Readonly<Record<string, readonly string[]>>) : undefined;
  }

  #at(index: number): unknown {
    this.#values ??= parse(this.text);
    return this.#values[index];
  }
}

/** Limits of the number and length of texts: more of them, or longer ones, are seldom shared. */
const TEXTS_MAX = 4096;
const TEXT_LENGTH_MAX = 1024;

/** The latest fields of one informer's objects, by their text. */
export class SharedFields {
  readonly #byText: Map<string, ProjectedFields> = new Map();

  of(text: string): ProjectedFields {
    const known = this.#byText.get(text);
    if (known) return known;
    const fields = new ProjectedFields(text);
    if (text.length <= TEXT_LENGTH_MAX) this.#keep(fields);
    return fields;
  }

  #keep(fields: ProjectedFields): void {
    const byText = this.#byText;
    byText.set(fields.text, fields);
    if (byText.size <= TEXTS_MAX) return;
    const oldest = byText.keys().next().value;
    if (oldest !== undefined) byText.delete(oldest);
  }
}

function parse(text: string): readonly unknown[] {
  if (text.length <= 1) return [];
  const array = `[${text.slice(1)}`;
  // Only non-ASCII text is decoded over its bytes.
  // oxlint-disable-next-line no-control-regex -- U+0080 and above are what is looked for
  const json = /[^\u0000-\u007f]/.test(array) ? Buffer.from(array, 'latin1').toString('utf8') : array;
  const values: unknown = JSON.parse(json);
  if (!Array.isArray(values)) return [];
  freezeAll(values);
  return values;
}

/** Freezes values at any depth, because entries with the same fields share them. */
function freezeAll(values: object): void {
  for (const value of Object.values(values)) {
    if (typeof value === 'object' && value !== null) freezeAll(value);
  }
  Object.freeze(values);
}
