/** The broken rules of fields, which are the causes of a 422. */

/** A broken rule, such as `Required value`, with the wording after the path. */
export interface FieldError {
  readonly type:
    | 'FieldValueRequired'
    | 'FieldValueInvalid'
    | 'FieldValueTypeInvalid'
    | 'FieldValueForbidden'
    | 'FieldValueNotSupported'
    | 'FieldValueTooLong'
    | 'FieldValueTooMany'
    | 'FieldValueDuplicate'
    | 'FieldValueNotFound';
  readonly field: string;
  readonly body: string;
}
