/** A broken rule of one field: a cause of a 422. */

/** One broken field rule, e.g. `Required value`, with the wording after the path. */
export interface FieldError {
  readonly type:
    | 'FieldValueRequired'
    | 'FieldValueInvalid'
    | 'FieldValueTypeInvalid'
    | 'FieldValueForbidden'
    | 'FieldValueNotSupported'
    | 'FieldValueTooLong'
    | 'FieldValueTooMany'
    | 'FieldValueDuplicate';
  readonly field: string;
  readonly body: string;
}
