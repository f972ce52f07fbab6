/** Pausing and resuming, of an operation or one of its Targets. */
import { html, type TemplateResult } from 'lit';
import type { Pause } from '../../../../../src/api/operations/responses.ts';
import { post } from '../base/api.ts';
import type { Page } from '../base/screen.ts';
import { ask } from './dialogs.ts';
import { shape } from './parts.ts';

/** @param target where only that is meant. */
export const pauseButton = (
  page: Page,
  operation: string,
  target: string | undefined,
  paused: Pause | undefined,
): TemplateResult => {
  const what = target ?? operation;
  const path = `/v1/operations/${encodeURIComponent(operation)}/`;
  const of = target === undefined ? {} : { target };
  const pause = (): void =>
    ask(page, {
      title: `Pause ${what}`,
      text: 'Nothing of it is sealed until somebody resumes it. Calls that are under way go on.',
      button: 'Pause',
      asksReason: true,
      run: (reason) => post(`${path}pause`, { ...of, ...(reason === '' ? {} : { reason }) }),
      done: `${what} is paused`,
    });
  const resume = (): void =>
    ask(page, {
      title: `Resume ${what}`,
      text:
        paused?.by === 'circuit'
          ? 'Its circuit is open: new batches try the downstream at once instead of when the pause is over.'
          : 'What waits is sealed and called about again.',
      button: 'Resume',
      run: () => post(`${path}resume`, of),
      done: `${what} is being resumed`,
    });
  return paused ? html`<button @click=${resume}>Resume…</button>` : html`<button @click=${pause}>Pause…</button>`;
};

export const pauseNote = (what: string, { by, since, until, reason }: Pause): TemplateResult => html`
  <div class="note warn">${shape('warn')}<p>${what} ${by === 'circuit' ? 'is held by its circuit' : 'was paused'}
    <time-ago at=${since}></time-ago>${reason ? html`: <q>${reason}</q>` : by === 'circuit' ? '' : ', without a reason'}.
    ${until ? html`It is tried again <time-ago at=${until}></time-ago>.` : 'It stays so until somebody resumes it.'}</p></div>`;
