/** The rules for the names of a definition: group, plural, kinds, short names and categories. */

import type { FieldError } from '../store/field-error.ts';
import type { JsonObject } from '../store/json.ts';
import { invalidValue, required, text, texts } from '../store/causes.ts';

const LABEL = '[a-z]([-a-z0-9]*[a-z0-9])?';
const isLabel = new RegExp(`^${LABEL}$`);
const LABEL_LENGTH_MAX = 63;
const SUBDOMAIN = '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*';
const isSubdomain = new RegExp(`^${SUBDOMAIN}$`);
const SUBDOMAIN_LENGTH_MAX = 253;

function brokenRules(name: string, lengthMax: number, format: RegExp, rule: string): string[] {
  return [
    ...(name.length > lengthMax ? [`must be no more than ${lengthMax} characters`] : []),
    ...(format.test(name) ? [] : [rule]),
  ];
}

/** Returns the broken rules of a DNS-1035 label. */
export function labelRules(name: string): string[] {
  const rule = `a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '${LABEL}')`;
  return brokenRules(name, LABEL_LENGTH_MAX, isLabel, rule);
}

/** Returns the broken rules of an RFC 1123 subdomain. */
export function subdomainRules(name: string): string[] {
  const rule = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${SUBDOMAIN}')`;
  return brokenRules(name, SUBDOMAIN_LENGTH_MAX, isSubdomain, rule);
}

export function groupErrors(group: string): FieldError[] {
  if (group === '') return [required('spec.group')];
  const why = subdomainRules(group);
  if (why.length > 0) return [invalidValue('spec.group', group, why.join(','))];
  return group.includes('.')
    ? []
    : [invalidValue('spec.group', group, 'should be a domain with at least one dot')];
}

function labelErrors(field: string, name: string, isMixed = false): FieldError[] {
  const why = labelRules(isMixed ? name.toLowerCase() : name);
  const hint = isMixed ? 'may have mixed case, but should otherwise match: ' : '';
  return why.length === 0 ? [] : [invalidValue(field, name, `${hint}${why.join(',')}`)];
}

const SINGLE = ['plural', 'singular', 'kind', 'listKind'];

/** Returns the broken rules of names; absent names are no error. */
export function namesErrors(names: JsonObject, path: string): FieldError[] {
  const [kind, listKind] = [text(names['kind']), text(names['listKind'])];
  const each = (name: string): FieldError[] =>
    texts(names[name]).flatMap((label, index) => labelErrors(`${path}.${name}[${index}]`, label));
  return [
    ...SINGLE.filter((name) => text(names[name]) !== '').flatMap((name) =>
      labelErrors(`${path}.${name}`, text(names[name]), name.toLowerCase().endsWith('kind')),
    ),
    ...each('shortNames'),
    ...(kind !== '' && kind === listKind
      ? [invalidValue(`${path}.listKind`, listKind, 'kind and listKind may not be the same')]
      : []),
    ...each('categories'),
  ];
}

export function missingNames(names: JsonObject): FieldError[] {
  return SINGLE.filter((name) => text(names[name]) === '').map((name) => required(`spec.names.${name}`));
}

const PROTECTED = /(^|\.)(k8s|kubernetes)\.io$/;
export const APPROVAL = 'api-approved.kubernetes.io';

export interface Approval {
  readonly state: 'Missing' | 'Unapproved' | 'Approved' | 'Invalid';
  readonly reason: string;
}

/** Returns the approval of a definition in a group of Kubernetes itself; undefined for other groups. */
export function approvalOf(group: string, annotation: string): Approval | undefined {
  if (!PROTECTED.test(group)) return undefined;
  const needed = `protected groups must have approval annotation "${APPROVAL}"`;
  const link = 'see https://github.com/kubernetes/enhancements/pull/1111';
  if (annotation === '') return { state: 'Missing', reason: `${needed}, ${link}` };
  if (annotation.startsWith('unapproved'))
    return { state: 'Unapproved', reason: `not approved: ${JSON.stringify(annotation)}` };
  if (/^[A-Za-z][-+.A-Za-z0-9]*:\/\/[^/?]/.test(annotation) && URL.canParse(annotation))
    return { state: 'Approved', reason: `approved in ${annotation}` };
  const reason = `${needed} with either a URL or a reason starting with "unapproved", ${link}`;
  return { state: 'Invalid', reason };
}

export function approvalErrors(group: string, annotation: string): FieldError[] {
  const { state, reason } = approvalOf(group, annotation) ?? {};
  const field = `metadata.annotations[${APPROVAL}]`;
  if (state === 'Missing') return [required(field, reason)];
  return state === 'Invalid' ? [invalidValue(field, annotation, reason ?? '')] : [];
}
