/** The named formats of Kubernetes' CEL library. A check returns the errors of a text. */

import { keyRules, labelRules, labelValueRules, subdomainRules } from '../store/name-rules.ts';
import { formatCheck, isRequestUri } from './validation-formats.ts';

/** A format as a value of a rule. */
export class CelFormat {
  static readonly celName = 'kubernetes.NamedFormat';
  readonly check: (text: string) => readonly string[];

  constructor(check: (text: string) => readonly string[]) {
    this.check = check;
  }
}

/** A prefix may end in a dash. */
function prefixed(check: (text: string) => readonly string[]): (text: string) => readonly string[] {
  return (text) => check(text.replace(/.-$/, 'a'));
}

const LABEL_1035 = '[a-z]([-a-z0-9]*[a-z0-9])?';

function label1035(text: string): string[] {
  const rule = `a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '${LABEL_1035}')`;
  return [
    ...(text.length > 63 ? ['must be no more than 63 bytes'] : []),
    ...(new RegExp(`^${LABEL_1035}$`).test(text) ? [] : [rule]),
  ];
}

function formatted(name: string, why: string): (text: string) => readonly string[] {
  return (text) => (formatCheck(name)?.(text) === false ? [why] : []);
}

/** Formats by the names of their functions in rules. */
export const NAMED_FORMATS: ReadonlyMap<string, CelFormat> = new Map(
  Object.entries({
    dns1123Label: labelRules,
    dns1123Subdomain: subdomainRules,
    dns1035Label: label1035,
    qualifiedName: keyRules,
    dns1123LabelPrefix: prefixed(labelRules),
    dns1123SubdomainPrefix: prefixed(subdomainRules),
    dns1035LabelPrefix: prefixed(label1035),
    labelValue: labelValueRules,
    uri: (text: string) =>
      isRequestUri(text) ? [] : [`parse ${JSON.stringify(text)}: invalid URI for request`],
    uuid: formatted('uuid', 'does not match the UUID format'),
    byte: formatted('byte', 'invalid base64'),
    date: formatted('date', 'invalid date'),
    datetime: formatted('datetime', 'invalid datetime'),
  }).map(([name, check]) => [name, new CelFormat(check)]),
);
