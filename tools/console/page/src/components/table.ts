/** Tables. A table that is too wide scrolls in its own region; the least important columns are hidden first. */
import { html, nothing, type TemplateResult } from 'lit';
import { skeleton } from './parts.ts';

export interface Column<Row> {
  readonly name: string;
  readonly cell: (row: Row) => unknown;
  /** If true, the column contains numbers, which are aligned to the right. */
  readonly number?: true;
  /** If true, the column is hidden on narrow screens. */
  readonly minor?: true;
}

interface Table<Row> {
  /** What the table lists, for screen readers. */
  readonly name: string;
  readonly columns: readonly Column<Row>[];
  /** The rows of the table. Undefined until the data arrive. */
  readonly rows: readonly Row[] | undefined;
  /** Number of placeholder rows that are shown until the data arrive. */
  readonly expected?: number;
  /** The text that replaces an empty table. It names the next step for the user. */
  readonly empty: TemplateResult;
}

export const table = <Row>({ name, columns, rows, expected = 6, empty }: Table<Row>): TemplateResult =>
  rows?.length === 0
    ? empty
    : html`
      <div class="scroll" role="group" aria-label=${name} tabindex="0">
        <table>
          <caption class="unseen">${name}</caption>
          <thead><tr>${columns.map((each) => html`<th scope="col" class=${classOf(each)}>${each.name}</th>`)}</tr></thead>
          <tbody aria-busy=${rows ? 'false' : 'true'}>
            ${rows ? rows.map((row) => line(columns, row)) : Array.from({ length: expected }, () => waiting(columns))}
          </tbody>
        </table>
      </div>
    `;

const line = <Row>(columns: readonly Column<Row>[], row: Row): TemplateResult =>
  html`<tr>${columns.map((each) => html`<td class=${classOf(each)}>${each.cell(row)}</td>`)}</tr>`;

const waiting = <Row>(columns: readonly Column<Row>[]): TemplateResult =>
  html`<tr>${columns.map((each, index) => html`<td class=${classOf(each)}>${skeleton(index === 0 ? 'l' : 's')}</td>`)}</tr>`;

const classOf = <Row>({ number, minor }: Column<Row>): string =>
  `${number ? 'number' : ''} ${minor ? 'minor' : ''}`.trim();

/** Links to the next page and back to the first. @param next undefined on the last page. */
export const pager = (first: string | undefined, next: string | undefined, what: string): TemplateResult => html`
  <nav class="pager" aria-label=${`Pages of ${what}`}>
    ${first === undefined ? nothing : html`<a class="button" href=${first}>First page</a>`}
    ${next === undefined ? html`<span class="muted">${first === undefined ? '' : 'That was the last page.'}</span>` : html`<a class="button" href=${next}>Next page</a>`}
  </nav>
`;
