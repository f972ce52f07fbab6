/** The buttons to pause and resume an operation or one of its Targets. */
import { html, type TemplateResult } from 'lit';
import type { Pause } from '../../../../../src/api/operations/responses.ts';
import { because, post } from '../base/api.ts';
import type { Page } from '../base/screen.ts';
import { ask } from './dialogs.ts';
import { shape } from './parts.ts';

/** @param target the Target to pause; undefined for the whole operation. */
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
      text: 'Until a user resumes it, no batch of it is sealed. Its tasks wait; nothing is lost. Calls in progress continue.',
      button: 'Pause',
      reasonIsSeen: 'Other users see it with the pause, and in the audit trail.',
      run: (reason) => post(`${path}pause`, { ...of, ...(reason === '' ? {} : { reason }) }),
      done: `${what} is paused`,
    });
  const resume = (): void =>
    ask(page, {
      title: `Resume ${what}`,
      text:
        paused?.by === 'circuit'
          ? 'Its circuit is open. If you resume it, new batches call the downstream at once instead of after the pause.'
          : 'Waiting tasks are sealed into batches again, and the downstream is called again.',
      button: 'Resume',
      run: (reason) => post(because(`${path}resume`, reason), of),
      done: `${what} is being resumed`,
    });
  return paused ? html`<button @click=${resume}>Resume…</button>` : html`<button @click=${pause}>Pause…</button>`;
};

export const pauseNote = (what: string, { by, since, until, reason }: Pause): TemplateResult => html`
  <div class="note warn">${shape('warn')}<p>${what} ${by === 'circuit' ? 'makes no calls, because its circuit opened' : 'was paused'}
    <time-ago at=${since}></time-ago>${reason ? html`: <q>${reason}</q>` : by === 'circuit' ? '' : ', without a reason'}.
    ${until ? html`Tasks wait; nothing is lost. A batch tries the downstream again <time-ago at=${until}></time-ago>.` : 'Tasks wait; nothing is lost. It stays paused until a user resumes it.'}</p></div>`;
