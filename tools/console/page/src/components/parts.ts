/** Small elements of the page. */
import { html, nothing, svg, type TemplateResult } from 'lit';
import { refusalOf } from '../base/api.ts';
import { count, percent, shellWord } from '../base/format.ts';
import { href, type Route } from '../base/router.ts';
import type { Page } from '../base/screen.ts';
import type { State, Tone } from '../model/words.ts';

/** A shape for each tone, so that colour is not the only difference. */
const SHAPES: Readonly<Record<Tone, TemplateResult>> = {
  ok: svg`<path d="M3 8.5l3.2 3.2L13 5" fill="none" stroke="currentColor" stroke-width="2.2"/>`,
  bad: svg`<path d="M4 4l8 8M12 4l-8 8" fill="none" stroke="currentColor" stroke-width="2.2"/>`,
  warn: svg`<path d="M8 2.2L15 14H1z" fill="currentColor"/>`,
  busy: svg`<circle cx="8" cy="8" r="5.5" fill="none" stroke="currentColor" stroke-width="2"/><path d="M8 2.5a5.5 5.5 0 0 1 0 11z" fill="currentColor"/>`,
  idle: svg`<circle cx="8" cy="8" r="5" fill="none" stroke="currentColor" stroke-width="2"/>`,
};

export const shape = (tone: Tone): TemplateResult =>
  html`<svg class="shape ${tone}" viewBox="0 0 16 16" width="12" height="12" aria-hidden="true">${SHAPES[tone]}</svg>`;

export const badge = ({ tone, word }: State): TemplateResult =>
  html`<span class="badge ${tone}">${shape(tone)}${word}</span>`;

/** A link. Its text may wrap after the characters that separate the parts of a Target. */
export const link = (route: Route, text: string, className = ''): TemplateResult =>
  html`<a class=${className} href=${href(route)}>${breakable(text)}</a>`;

export const breakable = (text: string): TemplateResult[] =>
  text.split(/(?<=[/#=~:.])/).map((part, index) => (index === 0 ? html`${part}` : html`<wbr />${part}`));

export const idText = (text: string): TemplateResult => html`<code class="id">${breakable(text)}</code>`;

/** A placeholder with the size of the text that will replace it. */
export const skeleton = (width: 's' | 'm' | 'l' = 'm'): TemplateResult =>
  html`<span class="skeleton ${width}" aria-hidden="true"></span>`;

/** A list of names and values. Names with an undefined value are left out. */
export const facts = (of: readonly (readonly [name: string, value: unknown])[]): TemplateResult => html`
  <dl class="facts">
    ${of
      .filter(([, value]) => value !== undefined && value !== '')
      .map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}
  </dl>
`;

/** A key figure: a value with its name. */
export const figure = (name: string, value: unknown, more: unknown = nothing): TemplateResult => html`
  <div class="figure"><span class="name">${name}</span><span class="value">${value}</span><span class="more">${more}</span></div>
`;

/** A progress bar with a text. */
export const progress = (done: number, total: number, words: string): TemplateResult => html`
  <div class="progress">
    <meter min="0" max=${Math.max(1, total)} .value=${done} aria-label=${`${words}: ${count(done)} of ${count(total)}`}></meter>
    <span>${total === 0 ? words : `${percent(done / total)} · ${words}`}</span>
  </div>
`;

/** A bar that shows how full a batch is. */
export const fill = (share: number | undefined): TemplateResult =>
  share === undefined
    ? html`<span class="muted">–</span>`
    : html`<span class="fill"><meter min="0" max="1" .value=${share} aria-label="fill"></meter>${percent(share)}</span>`;

export const empty = (title: string, next: unknown): TemplateResult =>
  html`<div class="empty"><p class="title">${title}</p><p>${next}</p></div>`;

/** An error of the API, in the words of the API. */
export const problem = (
  detail: string,
  errors: readonly { readonly path: string; readonly reason: string }[] = [],
): TemplateResult => html`
  <div class="problem" role="alert">
    ${shape('bad')}
    <div>
      <p>${detail}</p>
      ${
        errors.length === 0
          ? nothing
          : html`<ul>${errors.slice(0, 20).map(({ path, reason }) => html`<li>${path ? html`<code>${path}</code> ` : nothing}${reason}</li>`)}</ul>`
      }
      ${errors.length > 20 ? html`<p>and ${count(errors.length - 20)} more</p>` : nothing}
    </div>
  </div>
`;

/**
 * Shows the command of the command line that does the same. @param words the words of the command. Each word is quoted,
 * so that a shell passes it on unchanged.
 */
export const command = (...words: readonly string[]): TemplateResult => {
  const text = ['groupage', ...words].map(shellWord).join(' ');
  return html`<div class="command"><code>${text}</code><copy-button .text=${text} label="Copy the command"></copy-button></div>`;
};

/** The error of a call. Undefined if the call succeeded or has no answer yet. */
export const refused = ({ live }: Page, path: string): TemplateResult | undefined => {
  const answer = live.answer(path);
  if (!answer || answer.status < 300) return undefined;
  const { detail, errors } = refusalOf(answer.status, JSON.stringify(answer.body));
  return problem(detail, errors);
};

/** Whether the API answered that the requested thing does not exist. */
export const isUnknown = ({ live }: Page, path: string): boolean => live.answer(path)?.status === 404;
