/**
 * Reads the file of a result and checks it with the published JSON Schema: reports can also be made from results of
 * other runs.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import { KubeloomError, messageOf } from '../../../base/errors.ts';
import { parseJson } from '../../../base/parse-json.ts';
import type { LoadTestResult } from '../result.ts';

const FORMAT: LoadTestResult['format'] = 1;

let validate: ValidateFunction | undefined;

/** @throws ERR_KUBELOOM_USAGE when the file is not a result, or is a result of an unknown format */
export function readResult(file: string): LoadTestResult {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw wrong(file, `it cannot be read: ${messageOf(cause)}`, cause);
  }
  return parseResult(text, file);
}

/** @param file the name in messages */
export function parseResult(text: string, file: string): LoadTestResult {
  const data = parseJson(text);
  if (data === undefined) throw wrong(file, 'it is not JSON');
  const format = typeof data === 'object' && data !== null && 'format' in data ? data.format : undefined;
  if (format !== FORMAT) {
    const found = format === undefined ? 'has no format' : `has the format ${JSON.stringify(format)}`;
    throw wrong(
      file,
      `it ${found}, and this version reads format ${FORMAT}: use --json of kubeloom loadtest`,
    );
  }
  return checkedResult(data, file);
}

/** @param name the name in messages @throws ERR_KUBELOOM_USAGE when the data does not match the published schema */
export function checkedResult(data: unknown, name: string): LoadTestResult {
  validate ??= schemaCheck();
  if (validate(data)) return data as LoadTestResult;
  const [first] = validate.errors ?? [];
  throw wrong(name, `${first?.instancePath ?? ''} ${first?.message ?? 'is not as expected'}`);
}

function schemaCheck(): ValidateFunction {
  const { resolve } = createRequire(import.meta.url);
  const schema = parseJson(readFileSync(resolve('kubeloom/loadtest-result.schema.json'), 'utf8')) as object;
  return new Ajv2020({ allowUnionTypes: true }).compile(schema);
}

function wrong(file: string, reason: string, cause?: unknown): KubeloomError {
  const message = `${file} is not a result of a load test: ${reason}`;
  return new KubeloomError('ERR_KUBELOOM_USAGE', message, cause === undefined ? {} : { cause });
}
