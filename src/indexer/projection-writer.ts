/**
 * Writer of an object's extracted fields behind the other text of its notification. It adds the values of module
 * indexes as one more element.
 *
 * The text must fit into one record (a quarter of the ring). Otherwise the declared fields are omitted and reported;
 * labels and the controller's uid stay exact, so the store stays correct.
 */
import { PROJECTION_MALFORMED, PROJECTION_NO_ROOM, Projector } from '../kube/json/projection.ts';
import { ByteScratch } from './byte-scratch.ts';
import type { StagedObject } from './staged-object.ts';
import type { Warning } from './warning.ts';

const CODE_TOO_LARGE = 'ERR_KUBELOOM_PROJECTION_TOO_LARGE';
const ROOM_BYTES = 1024;
const CLOSE_BRACKET = 0x5d;

export class ProjectionWriter {
  readonly #projector: Projector;
  /** Writer without the declared fields. */
  readonly #fixed: Projector = new Projector([]);
  readonly #absentFields: string;

  constructor(fields: readonly string[]) {
    this.#projector = new Projector(fields);
    this.#absentFields = ',null'.repeat(fields.length);
  }

  /**
   * End of the only part of the last object, besides the part before its version, that determines the extracted fields;
   * -1 when more of the object does.
   */
  get headEnd(): number {
    return this.#projector.readsOnlyHead ? this.#projector.managedFieldsStart : -1;
  }

  /** Writes the fields; returns false and writes nothing when the object is malformed. */
  write(object: StagedObject, text: ByteScratch, textBytesMax: number): boolean {
    const start = text.end;
    if (!project(this.#projector, object, text)) return false;
    if (text.end <= textBytesMax) return true;
    object.warnings.push({
      code: CODE_TOO_LARGE,
      message:
        `the extracted fields take ${text.end - start} bytes, more than the limit of a record (${textBytesMax}), so ` +
        'they are omitted; declare smaller fields or raise ringBytes',
    });
    text.end = start;
    if (!project(this.#fixed, object, text)) return false;
    text.end--;
    text.appendText(`${this.#absentFields}]`);
    if (text.end > textBytesMax) text.end = start;
    return true;
  }
}

/** Adds the values of module indexes, given as JSON. */
export function appendIndexValues(
  values: string,
  warnings: Warning[],
  text: ByteScratch,
  textBytesMax: number,
): void {
  const end = text.end;
  // Without extracted fields there is no array to add to.
  if (text.bytes[end - 1] !== CLOSE_BRACKET) return;
  text.end = end - 1;
  text.appendText(`,${values}]`);
  if (text.end <= textBytesMax) return;
  text.end = end;
  text.bytes[end - 1] = CLOSE_BRACKET;
  warnings.push({
    code: CODE_TOO_LARGE,
    message: `the values of the module indexes take ${values.length} bytes, so the object is in none of these indexes`,
  });
}

function project(projector: Projector, object: StagedObject, text: ByteScratch): boolean {
  const goHead = object.isInline ? undefined : object.goHead;
  for (let room = ROOM_BYTES; ; room *= 2) {
    text.reserve(room);
    const end = projector.project(object.bytes, object.start, object.end, text.bytes, text.end, goHead);
    if (end === PROJECTION_MALFORMED) return false;
    if (end === PROJECTION_NO_ROOM) continue;
    text.end = end;
    return true;
  }
}
