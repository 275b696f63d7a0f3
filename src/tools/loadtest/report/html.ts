/** HTML as values: text is escaped unless it is already HTML. */

/** Text that is already HTML. A class, because data of a file cannot be an instance. */
export class Html {
  readonly #html: string;

  constructor(html: string) {
    this.#html = html;
  }

  get html(): string {
    return this.#html;
  }
}

export type HtmlPart = string | number | Html | readonly Html[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function html(strings: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  const texts = parts.map((part, index) => `${textOf(part)}${strings[index + 1] ?? ''}`);
  return new Html(`${strings[0] ?? ''}${texts.join('')}`);
}

function textOf(part: HtmlPart): string {
  if (part instanceof Html) return part.html;
  if (typeof part !== 'object') return escapeMarkup(String(part));
  return Array.isArray(part) ? part.map(textOf).join('') : escapeMarkup(JSON.stringify(part));
}

/** Returns the text for HTML and XML. */
export function escapeMarkup(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/** Empty HTML. */
export const NOTHING: Html = new Html('');

/** Returns JSON for a script element: no text in the JSON ends the element or begins a comment. */
export function scriptJson(data: unknown): Html {
  return new Html(JSON.stringify(data).replaceAll('<', String.raw`\u003c`));
}

export interface TableColumn {
  readonly header: string;
  readonly isNumber?: boolean;
}

/** Returns columns of figures. */
export function numberColumns(...headers: readonly string[]): TableColumn[] {
  return headers.map((header) => ({ header, isNumber: true }));
}

/** Returns columns of text. */
export function textColumns(...headers: readonly string[]): TableColumn[] {
  return headers.map((header) => ({ header }));
}

/** Returns a table whose cells do not wrap; the page scrolls a wide table. */
export function table(columns: readonly TableColumn[], rows: readonly (readonly HtmlPart[])[]): Html {
  const className = (index: number): string => (columns[index]?.isNumber === true ? 'n' : '');
  return html`<div class="scroll">
    <table>
      <thead>
        <tr>
          ${columns.map(({ header }, index) => html`<th class="${className(index)}">${header}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (cells) =>
            html`<tr>
              ${cells.map((cell, index) => html`<td class="${className(index)}">${cell}</td>`)}
            </tr> `,
        )}
      </tbody>
    </table>
  </div>`;
}
