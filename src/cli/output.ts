/** The formats of `-o`, as data. */
import { KubeloomError } from '../base/errors.ts';
import { OUTPUTS } from './commands/get.ts';
import { columnsOf } from './columns.ts';
import type { Column } from './columns.ts';
import { jsonPathTemplate, jsonPathValues, textOfValue } from './json-path.ts';
import type { Template } from './json-path.ts';
import type { ResourceRef } from '../kube/resource.ts';

export type Output =
  | { readonly type: 'table'; readonly isWide: boolean }
  | { readonly type: 'columns'; readonly columns: readonly Column[] }
  | { readonly type: 'name' }
  | { readonly type: 'json' }
  | { readonly type: 'yaml' }
  | { readonly type: 'jsonpath'; readonly template: Template };

/** @throws ERR_KUBELOOM_USAGE for an unknown format, and for a template or columns that cannot be read */
export function parseOutput(text: string): Output {
  const [, type = text, argument] = /^([a-z-]+)=(.*)$/s.exec(text) ?? [];
  if (type === 'jsonpath' && argument) return { type, template: jsonPathTemplate(argument) };
  if (type === 'custom-columns' && argument) return { type: 'columns', columns: customColumns(argument) };
  if (argument === undefined && type === 'wide') return { type: 'table', isWide: true };
  if (argument === undefined && (type === 'name' || type === 'json' || type === 'yaml')) return { type };
  throw usage(`-o ${text}: formats are ${OUTPUTS}`);
}

/** Returns the columns behind the name, or the custom ones, which are the whole row. */
export function columnsFor(output: Output, ref: ResourceRef): readonly Column[] {
  if (output.type === 'columns') return output.columns;
  return columnsOf(ref, output.type === 'table' && output.isWide);
}

/** `NAME:.metadata.name,IMAGES:.spec.containers[*].image` */
function customColumns(text: string): Column[] {
  return text.split(/,(?![^[]*\])/).map((column) => {
    const [, header, path] = /^([^:]+):(.+)$/s.exec(column) ?? [];
    if (header === undefined || path === undefined) {
      throw usage(`custom column ${JSON.stringify(column)}: expected HEADER:PATH`);
    }
    const values = jsonPathValues(path);
    return { header, cell: (object) => values(object).map(textOfValue).join(',') || '<none>' };
  });
}

function usage(message: string): KubeloomError {
  return new KubeloomError('ERR_KUBELOOM_USAGE', message);
}
