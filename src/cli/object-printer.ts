/**
 * The output of `kubeloom get` and `watch` for one resource: the initial objects together once they are complete, then one
 * row or document for each change. A format is a function from an object to cells or to text; the printer decides when to
 * print.
 */
import { stringify } from 'yaml';
import type { Borrowed } from '../index.ts';
import type { ResourceRef } from '../kube/resource.ts';
import { escapeControls } from '../base/printable.ts';
import { columnsFor } from './output.ts';
import type { Output } from './output.ts';
import { Table } from './table.ts';

export type ChangeKind = 'ADDED' | 'MODIFIED' | 'DELETED';

export interface PrinterOptions {
  readonly ref: ResourceRef;
  readonly output: Output;
  /** Adds a NAMESPACE column, for objects of several namespaces. */
  readonly hasNamespaces: boolean;
  /** Prints `pod/web-0` instead of `web-0`, for several resources. */
  readonly hasKinds: boolean;
  /** kubectl's --output-watch-events. */
  readonly hasEvents: boolean;
  readonly now: () => number;
  readonly write: (text: string) => void;
}

/** Control characters that a terminal would execute, without line ends and tabs. */
const RAW_CONTROLS = /[^\P{Cc}\t\n\r]|[\u2028-\u202e\u2066-\u2069]/gu;
const INDENT = 4;

export class ObjectPrinter {
  readonly #options: PrinterOptions;
  readonly #linesOf: (rows: readonly Row[]) => readonly string[];
  #initial: Row[] | undefined = [];

  constructor(options: PrinterOptions) {
    this.#options = options;
    this.#linesOf = linesOf(options);
  }

  /** Reads the printed values now: a handler can read its object only until its call is done. */
  print(kind: ChangeKind, object: Borrowed<unknown>): void {
    const row = rowOf(kind, object, this.#options);
    if (this.#initial) this.#initial.push(row);
    else this.#write([row]);
  }

  /** Prints the complete initial list, and from now on every change at once. */
  flush(): void {
    const rows = this.#initial;
    this.#initial = undefined;
    if (rows) this.#write(rows);
  }

  /** Forgets the initial list; only changes are printed. */
  skip(): void {
    this.#initial = undefined;
  }

  #write(rows: readonly Row[]): void {
    const lines = this.#linesOf(rows);
    if (lines.length > 0) this.#options.write(`${lines.join('\n')}\n`);
  }
}

/** Returns whether a format prints objects as a whole, so that several of them are a List. */
export function isDocument(output: Output): boolean {
  return output.type === 'json' || output.type === 'yaml' || output.type === 'jsonpath';
}

/** Returns the document of one object, or of a list of objects, as kubectl prints it without a watch. */
export function documentOf(output: Output, value: unknown): string {
  if (output.type === 'json') return `${visible(JSON.stringify(value, null, INDENT))}\n`;
  if (output.type === 'jsonpath') return visible(output.template(value));
  const text = stringify(value, { aliasDuplicateObjects: false });
  if (text.search(RAW_CONTROLS) === -1) return text;
  // Escapes mean something between double quotes only.
  return visible(stringify(value, { defaultStringType: 'QUOTE_DOUBLE', aliasDuplicateObjects: false }));
}

/** Cells of a table, or a single one that is the whole line or document. */
type Row = readonly string[];

function rowOf(kind: ChangeKind, object: Borrowed<unknown>, options: PrinterOptions): Row {
  const { ref, output, hasEvents, hasKinds, hasNamespaces, now } = options;
  const event = hasEvents ? [kind] : [];
  if (output.type === 'name') return [[...event, nameOf(ref, object.name)].join(' ')];
  if (output.type === 'json') {
    const json = oneLine(object.bytes().toString());
    return [hasEvents ? `{"type":"${kind}","object":${json}}` : json];
  }
  const value = object.object;
  if (output.type === 'yaml' || output.type === 'jsonpath') {
    const text = documentOf(output, hasEvents ? { type: kind, object: value } : value).trimEnd();
    return [output.type === 'yaml' ? `---\n${text}` : text];
  }
  const cells = columnsFor(output, ref).map((column) => column.cell(value, now()));
  if (output.type === 'columns') return [...event, ...cells];
  const name = hasKinds ? nameOf(ref, object.name) : object.name;
  return [...event, ...(hasNamespaces ? [object.namespace] : []), name, ...cells];
}

function linesOf(options: PrinterOptions): (rows: readonly Row[]) => string[] {
  const { ref, output, hasEvents, hasNamespaces } = options;
  if (isDocument(output)) return (rows) => rows.flat();
  if (output.type === 'name') return (rows) => rows.flat().map(escapeControls);
  const identity = output.type === 'columns' ? [] : [...(hasNamespaces ? ['NAMESPACE'] : []), 'NAME'];
  const table = new Table([
    // The column is as wide as its widest possible value: the first values may all be shorter.
    ...(hasEvents ? ['EVENT   '] : []),
    ...identity,
    ...columnsFor(output, ref).map(({ header }) => header),
  ]);
  return (rows) => table.lines(rows);
}

/** `pod/web-0`, `deployment.apps/web`. */
function nameOf({ kind, group }: ResourceRef, name: string): string {
  return `${kind.toLowerCase()}${group === '' ? '' : `.${group}`}/${name}`;
}

/** Returns the same JSON: raw line breaks are between tokens only, raw controls in strings only. */
function oneLine(json: string): string {
  return visible(json.replace(/[\r\n]+/g, ' ').trim());
}

function visible(text: string): string {
  return text.replace(
    RAW_CONTROLS,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
