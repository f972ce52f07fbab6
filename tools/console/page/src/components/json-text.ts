/** JSON for reading, exactly as it was stored. */
import { html, type TemplateResult } from 'lit';
import { jsonTokens } from '../model/json-tokens.ts';

/** Larger ones are shown as they are: to colour a hundred thousand pieces takes a browser seconds. */
const LAID_OUT_MAX = 64 * 1_024;

/** @param name says what it is, to those who do not see it. */
export const jsonText = (name: string, json: string): TemplateResult => html`
  <div class="json">
    <copy-button .text=${json} label=${`Copy the ${name}`}></copy-button>
    <pre role="group" tabindex="0" aria-label=${name}>${
      json.length > LAID_OUT_MAX
        ? json
        : jsonTokens(json).map(({ kind, text }) =>
            kind === 'mark' ? text : html`<span class=${`json-${kind}`}>${text}</span>`,
          )
    }</pre>
  </div>
`;
