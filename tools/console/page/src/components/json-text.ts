/** Shows JSON with line breaks and indentation, otherwise exactly as it was stored. */
import { html, type TemplateResult } from 'lit';
import { jsonTokens } from '../model/json-tokens.ts';

/**
 * Maximum length of a text that is laid out, in UTF-16 units. Longer texts are shown without layout, because a browser
 * takes seconds to colour a hundred thousand pieces.
 */
const LAID_OUT_MAX = 64 * 1_024;

/** @param name what the JSON is, for screen readers. */
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
