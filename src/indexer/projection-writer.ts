/**
 * Puts the projection of an object behind the other text of its notification, and the values of module indexes
 * into it as one more element.
 *
 * Text has to fit into one record (an eighth of the ring). A projection that does not is sent without the
 * declared fields and reported: labels and the controller's uid stay exact, and the store is still right.
 */
import { PROJECTION_MALFORMED, PROJECTION_NO_ROOM, Projector } from '../json/projection.ts';
import { Scratch } from './scratch.ts';
import type { StagedObject } from './staged-object.ts';
import type { Warning } from './warning.ts';

const CODE_TOO_LARGE = 'ERR_KUBELOOM_PROJECTION_TOO_LARGE';
const ROOM_BYTES = 1024;
const CLOSE_BRACKET = 0x5d;

export class ProjectionWriter {
  readonly #projector: Projector;
  /** Without the declared fields. */
  readonly #fixed: Projector = new Projector([]);
  readonly #absentFields: string;

  constructor(fields: readonly string[]) {
    this.#projector = new Projector(fields);
    this.#absentFields = ',null'.repeat(fields.length);
  }

  /**
   * Where the part of the last object ends that alone decides on its projection, together with what comes before its
   * version; -1 when more of it does.
   */
  get headEnd(): number {
    return this.#projector.readsOnlyHead ? this.#projector.managedFieldsStart : -1;
  }

  /** False, and nothing is written, when the object is malformed. */
  write(object: StagedObject, text: Scratch, textBytesMax: number): boolean {
    const start = text.end;
    if (!project(this.#projector, object, text)) return false;
    if (text.end <= textBytesMax) return true;
    object.warnings.push({
      code: CODE_TOO_LARGE,
      message:
        `the projected fields take ${text.end - start} bytes, more than a record may have (${textBytesMax}): ` +
        'they are missing; declare smaller fields or raise ringBytes',
    });
    text.end = start;
    if (!project(this.#fixed, object, text)) return false;
    text.end--;
    text.appendText(`${this.#absentFields}]`);
    if (text.end > textBytesMax) text.end = start;
    return true;
  }
}

/** `values` is JSON. */
export function appendIndexValues(
  values: string,
  warnings: Warning[],
  text: Scratch,
  textBytesMax: number,
): void {
  const end = text.end;
  // Nothing was projected: there is no array to add to.
  if (text.bytes[end - 1] !== CLOSE_BRACKET) return;
  text.end = end - 1;
  text.appendText(`,${values}]`);
  if (text.end <= textBytesMax) return;
  text.end = end;
  text.bytes[end - 1] = CLOSE_BRACKET;
  warnings.push({
    code: CODE_TOO_LARGE,
    message: `the values of the module indexes take ${values.length} bytes: the object is in none of them`,
  });
}

function project(projector: Projector, object: StagedObject, text: Scratch): boolean {
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
