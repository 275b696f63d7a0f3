/** The rules for the conversion between versions: none, or a webhook with an address. */

import type { FieldError } from '../store/field-error.ts';
import { isJsonObject } from '../store/json.ts';
import type { JsonObject } from '../store/json.ts';
import { forbidden, invalidValue, required, text, texts, unsupported } from '../store/causes.ts';
import { labelRules, subdomainRules } from './definition-names.ts';

const STRATEGIES = ['None', 'Webhook'];
/** Versions of the request of which a real server can send one. */
const REVIEWS = ['v1', 'v1beta1'];

function urlErrors(url: string, field: string): FieldError[] {
  const form = '; desired format: https://host[/path]';
  const [, scheme = '', authority = '', , query = '', fragment = ''] =
    /^(?:([A-Za-z][-+.A-Za-z0-9]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/.exec(url) ?? [];
  const at = authority.lastIndexOf('@');
  const [user, host] = [authority.slice(0, Math.max(at, 0)), authority.slice(at + 1)];
  const errors: FieldError[] = [];
  if (scheme.toLowerCase() !== 'https')
    errors.push(invalidValue(field, scheme.toLowerCase(), `'https' is the only allowed URL scheme${form}`));
  if (host === '') errors.push(invalidValue(field, host, `host must be specified${form}`));
  if (at >= 0) errors.push(invalidValue(field, user, 'user information is not permitted in the URL'));
  if (fragment !== '') errors.push(invalidValue(field, fragment, 'fragments are not permitted in the URL'));
  if (query !== '') errors.push(invalidValue(field, query, 'query parameters are not permitted in the URL'));
  return errors;
}

function pathErrors(path: string, field: string): FieldError[] {
  if (path === '' || path === '/') return [];
  if (path === '//') return [invalidValue(field, path, 'segment[0] may not be empty')];
  const steps = path.slice(1).replace(/\/$/, '').split('/');
  return [
    ...(path.startsWith('/') ? [] : [invalidValue(field, path, "must start with a '/'")]),
    ...steps.flatMap((step, index) =>
      step === ''
        ? [invalidValue(field, path, `segment[${index}] may not be empty`)]
        : subdomainRules(step).map((why) => invalidValue(field, path, `segment[${index}]: ${why}`)),
    ),
  ];
}

function serviceErrors({ name, namespace, path, port }: JsonObject, field: string): FieldError[] {
  const number = typeof port === 'number' ? port : 443;
  const why = 'port is not valid: must be between 1 and 65535, inclusive';
  return [
    // A real server confuses the two names.
    ...(text(namespace) === '' ? [required(`${field}.name`)] : []),
    ...(text(name) === '' ? [required(`${field}.namespace`)] : []),
    ...(number >= 1 && number <= 65_535 ? [] : [invalidValue(`${field}.port`, number, why)]),
    ...pathErrors(text(path), `${field}.path`),
  ];
}

function clientErrors(config: JsonObject | undefined, field: string): FieldError[] {
  if (config === undefined) return [required(field, 'required when strategy is set to Webhook')];
  const { url, service } = config;
  if ((typeof url === 'string') === isJsonObject(service))
    return [required(field, 'exactly one of url or service is required')];
  return isJsonObject(service)
    ? serviceErrors(service, `${field}.service`)
    : urlErrors(text(url), `${field}.url`);
}

function reviewErrors(versions: readonly string[], field: string): FieldError[] {
  if (versions.length === 0) return [required(field)];
  const errors = versions.flatMap((version, index) => {
    const why = versions.indexOf(version) < index ? ['duplicate version'] : labelRules(version);
    return why.map((each) => invalidValue(`${field}[${index}]`, version, each));
  });
  if (versions.some((version) => REVIEWS.includes(version))) return errors;
  return [
    ...errors,
    invalidValue(field, [...versions], `must include at least one of ${REVIEWS.join(', ')}`),
  ];
}

export function conversionErrors({ strategy, webhook }: JsonObject): FieldError[] {
  const path = 'spec.conversion';
  const given = isJsonObject(webhook) ? webhook : {};
  const config = isJsonObject(given['clientConfig']) ? given['clientConfig'] : undefined;
  const reviews = texts(given['conversionReviewVersions']);
  const errors: FieldError[] = [];
  if (text(strategy) === '') errors.push(required(`${path}.strategy`));
  else if (!STRATEGIES.includes(text(strategy)))
    errors.push(unsupported(`${path}.strategy`, text(strategy), STRATEGIES));
  const [client, versions] = [`${path}.webhookClientConfig`, `${path}.conversionReviewVersions`];
  if (strategy === 'Webhook')
    return [...errors, ...clientErrors(config, client), ...reviewErrors(reviews, versions)];
  const why = 'should not be set when strategy is not set to Webhook';
  if (config !== undefined) errors.push(forbidden(client, why));
  if (reviews.length > 0) errors.push(forbidden(versions, why));
  return errors;
}
