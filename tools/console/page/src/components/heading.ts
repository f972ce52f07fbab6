/** The top of a view. */
import { html, nothing, type TemplateResult } from 'lit';
import type { Batch } from '../../../../../src/api/batches/responses.ts';
import type { Route } from '../base/router.ts';
import type { State } from '../model/words.ts';
import { badge, breakable, link } from './parts.ts';

interface Heading {
  /** The kind of the thing that the view shows, if the name alone does not show the kind. */
  readonly kind?: string;
  readonly name: string;
  /** If true, the name is an id, which is shown verbatim with a button to copy it. */
  readonly isId?: true;
  readonly state?: State | undefined;
  /** Links to the things that contain the shown thing. */
  readonly under?: readonly { readonly route: Route; readonly text: string }[];
  readonly actions?: unknown;
}

/** The heading of a view. It receives the focus when the view is opened, so that a screen reader starts there. */
export const heading = ({ kind, name, isId, state, under = [], actions = nothing }: Heading): TemplateResult => html`
  <div class="heading">
    ${
      under.length > 0
        ? html`<nav class="under" aria-label="Parent pages">${under.map(({ route, text }) => link(route, text))}</nav>`
        : nothing
    }
    <div class="line">
      <h1 tabindex="-1">${kind ? html`<span class="kind">${kind}</span> ` : nothing}${isId ? html`<code>${breakable(name)}</code>` : name}</h1>
      ${isId ? html`<copy-button .text=${name} label="Copy the id"></copy-button>` : nothing}
      ${state ? badge(state) : nothing}
      <div class="actions">${actions}</div>
    </div>
  </div>`;

/** The links above the heading of a batch or a task. Empty until the data of the batch or task have arrived. */
export const belonging = (of: Pick<Batch, 'operation' | 'target'> | undefined): NonNullable<Heading['under']> =>
  of
    ? [
        { route: { view: 'operation', name: of.operation }, text: of.operation },
        { route: { view: 'target', target: of.target }, text: of.target },
      ]
    : [];
