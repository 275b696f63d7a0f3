/**
 * The output of `kubeloom watch`: the initial objects together once they are complete, then one row for each change. A
 * format is a function from a change to cells or to a line; the printer decides when to print.
 */
import type { Borrowed } from '../index.ts';
import type { ResourceRef } from '../kube/resource.ts';
import { columnsOf } from './columns.ts';
import { Table } from './table.ts';
import { escapeControls } from '../base/printable.ts';

export type OutputFormat = 'table' | 'wide' | 'name' | 'json';
export type ChangeKind = 'ADDED' | 'MODIFIED' | 'DELETED';

export interface PrinterOptions {
  readonly ref: ResourceRef;
  readonly format: OutputFormat;
  /** Adds a NAMESPACE column, for objects of several namespaces. */
  readonly hasNamespaces: boolean;
  /** kubectl's --output-watch-events. */
  readonly hasEvents: boolean;
  readonly now: () => number;
  readonly write: (text: string) => void;
}

/** Control characters that JSON allows inside strings, but that a terminal would execute. */
const RAW_CONTROLS = /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

export class WatchPrinter {
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

  #write(rows: readonly Row[]): void {
    const lines = this.#linesOf(rows);
    if (lines.length > 0) this.#options.write(`${lines.join('\n')}\n`);
  }
}

/** Returns the cells of a table, or a single one that is the whole line. */
type Row = readonly string[];

function rowOf(kind: ChangeKind, object: Borrowed<unknown>, options: PrinterOptions): Row {
  const { ref, format, hasEvents, hasNamespaces, now } = options;
  const event = hasEvents ? [kind] : [];
  if (format === 'name') return [[...event, nameOf(ref, object.name)].join(' ')];
  if (format === 'json') {
    const json = oneLine(object.bytes().toString());
    return [hasEvents ? `{"type":"${kind}","object":${json}}` : json];
  }
  const value = object.object;
  const cells = columnsOf(ref, format === 'wide').map((column) => column.cell(value, now()));
  return [...event, ...(hasNamespaces ? [object.namespace] : []), object.name, ...cells];
}

function linesOf({
  ref,
  format,
  hasEvents,
  hasNamespaces,
}: PrinterOptions): (rows: readonly Row[]) => string[] {
  if (format === 'json') return (rows) => rows.flat();
  if (format === 'name') return (rows) => rows.flat().map(escapeControls);
  const table = new Table([
    // The column is as wide as its widest possible value: the first values may all be shorter.
    ...(hasEvents ? ['EVENT   '] : []),
    ...(hasNamespaces ? ['NAMESPACE'] : []),
    'NAME',
    ...columnsOf(ref, format === 'wide').map(({ header }) => header),
  ]);
  return (rows) => table.lines(rows);
}

/** `pod/web-0`, `deployment.apps/web`. */
function nameOf({ kind, group }: ResourceRef, name: string): string {
  return `${kind.toLowerCase()}${group === '' ? '' : `.${group}`}/${name}`;
}

/** Returns the same JSON: raw line breaks are between tokens only, raw C1 controls in strings only. */
function oneLine(json: string): string {
  return json
    .replace(/[\r\n]+/g, ' ')
    .trim()
    .replace(RAW_CONTROLS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
