/** The options of a writing request, checked as a cluster does. */

import type { IncomingMessage } from 'node:http';
import type { FieldError } from '../store/field-error.ts';
import { invalid, quote } from '../store/status.ts';
import { dryRunErrors } from './delete-options.ts';
import { flag } from '../wire/request-info.ts';

/** Options of a request. */
export interface RequestOptions {
  readonly dryRun: boolean;
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict';
  /** The manager of the fields that the request writes. */
  readonly manager: string;
  /** For server-side apply: takes the fields of other managers. */
  readonly force: boolean;
}

const MANAGER_BYTES_MAX = 128;
const VALIDATIONS = ['', 'Ignore', 'Strict', 'Warn'] as const;
const KINDS: Readonly<Record<string, string>> = {
  POST: 'CreateOptions',
  PUT: 'UpdateOptions',
  PATCH: 'PatchOptions',
};

/** @throws StatusError 422 */
export function requestOptions(
  request: IncomingMessage,
  query: URLSearchParams,
  isApply: boolean,
): RequestOptions {
  const errors: FieldError[] = [];
  const manager = query.get('fieldManager') ?? '';
  const validation = query.get('fieldValidation') ?? '';
  if (isApply && manager === '') {
    errors.push({
      type: 'FieldValueRequired',
      field: 'fieldManager',
      body: 'Required value: is required for apply patch',
    });
  }
  if (!isApply && query.get('force') !== null) {
    const body = 'Forbidden: may not be specified for non-apply patch';
    if (request.method === 'PATCH') errors.push({ type: 'FieldValueForbidden', field: 'force', body });
  }
  errors.push(...managerErrors(manager));
  const dryRun = query.getAll('dryRun');
  errors.push(...dryRunErrors(dryRun));
  const fieldValidation = VALIDATIONS.find((known) => known === validation);
  if (fieldValidation === undefined)
    errors.push(unsupported('fieldValidation', quote(validation), VALIDATIONS));
  if (errors.length > 0)
    throw invalid({ kind: KINDS[request.method ?? ''] ?? '', group: 'meta.k8s.io' }, '', errors);
  return {
    dryRun: dryRun.length > 0,
    fieldValidation: fieldValidation || 'Warn',
    manager: manager === '' ? managerOfAgent(request.headers['user-agent'] ?? '') : manager,
    force: flag(query, 'force'),
  };
}

function unsupported(field: string, value: string, supported: readonly string[]): FieldError {
  const body = `Unsupported value: ${value}: supported values: ${supported.map(quote).join(', ')}`;
  return { type: 'FieldValueNotSupported', field, body };
}

function managerErrors(manager: string): FieldError[] {
  const errors: FieldError[] = [];
  if (Buffer.byteLength(manager) > MANAGER_BYTES_MAX) {
    const body = `Too long: may not be more than ${MANAGER_BYTES_MAX} bytes`;
    errors.push({ type: 'FieldValueTooLong', field: 'fieldManager', body });
  }
  for (const [position, character] of Array.from(manager).entries()) {
    if (isPrintable(character)) continue;
    const code = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
    const body = `Invalid value: ${quote(manager)}: invalid character ${code} (at position ${position})`;
    errors.push({ type: 'FieldValueInvalid', field: 'fieldManager', body });
  }
  return errors;
}

function isPrintable(character: string): boolean {
  return character === ' ' || /[\p{L}\p{M}\p{N}\p{P}\p{S}]/u.test(character);
}

/** The program's name at the start of a user agent. */
function managerOfAgent(agent: string): string {
  const name = Array.from(agent.split('/')[0] ?? '')
    .filter(isPrintable)
    .join('')
    .slice(0, MANAGER_BYTES_MAX);
  return name === '' ? 'unknown' : name;
}
