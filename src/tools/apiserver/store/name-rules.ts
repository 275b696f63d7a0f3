/** The rules for names, and for the keys and values of labels, in the words of apimachinery. Each function returns every broken rule. */

import { invalidValue } from './causes.ts';
import type { FieldError } from './field-error.ts';
import { textOf } from './json.ts';
import type { JsonObject } from './json.ts';

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const KEY = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const VALUE = `(${KEY})?`;
const isLabel = whole(LABEL);
const isSubdomain = whole(SUBDOMAIN);
const isKey = whole(KEY);
const isValue = whole(VALUE);

const ENDS = 'and must start and end with an alphanumeric character';
const LABEL_RULE = `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', ${ENDS} (e.g. 'my-name',  or '123-abc', regex used for validation is '${LABEL}')`;
const SUBDOMAIN_RULE = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', ${ENDS} (e.g. 'example.com', regex used for validation is '${SUBDOMAIN}')`;
const KEY_RULE = `must consist of alphanumeric characters, '-', '_' or '.', ${ENDS} (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${KEY}')`;
const VALUE_RULE = `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', ${ENDS} (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '${VALUE}')`;

const LABEL_LENGTH_MAX = 63;
const SUBDOMAIN_LENGTH_MAX = 253;

function whole(pattern: string): (text: string) => boolean {
  const expression = new RegExp(`^(?:${pattern})$`);
  return (text) => expression.test(text);
}

export function tooLong(charactersMax: number): string {
  return `must be no more than ${charactersMax} characters`;
}

export function labelRules(name: string): string[] {
  return [
    ...(name.length > LABEL_LENGTH_MAX ? [tooLong(LABEL_LENGTH_MAX)] : []),
    ...(isLabel(name) ? [] : [isSubdomain(name) ? 'must not contain dots' : LABEL_RULE]),
  ];
}

export function subdomainRules(name: string): string[] {
  return [
    ...(name.length > SUBDOMAIN_LENGTH_MAX ? [tooLong(SUBDOMAIN_LENGTH_MAX)] : []),
    ...(isSubdomain(name) ? [] : [SUBDOMAIN_RULE]),
  ];
}

/** Returns the broken rules of a label's key; annotations and finalizers follow the same rules. */
export function keyRules(key: string): string[] {
  const parts = key.split('/');
  const name = parts.at(-1) ?? '';
  if (parts.length > 2) {
    return [
      `a valid label key ${KEY_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const prefix = parts.length === 2 ? parts[0] : undefined;
  const prefixRules =
    prefix === '' ? ['must be non-empty'] : prefix === undefined ? [] : subdomainRules(prefix);
  return [
    ...prefixRules.map((why) => `prefix part ${why}`),
    ...(name === '' ? ['name part must be non-empty'] : []),
    ...(name.length > LABEL_LENGTH_MAX ? [`name part must be no more than ${LABEL_LENGTH_MAX} bytes`] : []),
    ...(isKey(name) ? [] : [`name part ${KEY_RULE}`]),
  ];
}

export function labelValueRules(value: string): string[] {
  return [
    ...(value.length > LABEL_LENGTH_MAX ? [`must be no more than ${LABEL_LENGTH_MAX} bytes`] : []),
    ...(isValue(value) ? [] : [VALUE_RULE]),
  ];
}

/** Returns the errors of labels. @param field path of the labels, at which a server reports the errors of keys and values */
export function labelErrors(labels: JsonObject, field: string): FieldError[] {
  return Object.entries(labels).flatMap(([key, value]) => {
    const text = textOf(value);
    return [
      ...keyRules(key).map((why) => invalidValue(field, key, why)),
      ...labelValueRules(text).map((why) => invalidValue(field, text, why)),
    ];
  });
}
