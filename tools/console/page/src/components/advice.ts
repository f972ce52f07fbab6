/** Advice about an operation, on demand: the server simulates longer waits with the operation's own figures. */
import { html, nothing, type TemplateResult } from 'lit';
import type { Advice } from '../../../server/shapes.ts';
import { advicePath, get, type Reply } from '../base/api.ts';
import type { Page } from '../base/screen.ts';
import { command, problem } from './parts.ts';

export interface AdviceSection {
  render(): TemplateResult;
}

export const adviceSection = (page: Page, operation: string): AdviceSection => {
  let isAsking = false;
  let reply: Reply<Advice> | undefined;
  const ask = async (): Promise<void> => {
    isAsking = true;
    page.redraw();
    reply = await get<Advice>(advicePath(operation));
    isAsking = false;
    page.redraw();
  };
  return {
    render: () => html`
      <section aria-labelledby="advice-title">
        <h2 id="advice-title">Advice</h2>
        <p class="muted">Simulates longer waits for batches, with the measured rate of this operation. Changes nothing.</p>
        <div aria-live="polite">${reply === undefined || isAsking ? nothing : answered(reply)}</div>
        <p><button type="button" ?disabled=${isAsking} @click=${ask}>${isAsking ? 'Simulating…' : reply ? 'Simulate again' : 'Simulate'}</button></p>
        ${command('operations', operation, '--advice')}
      </section>`,
  };
};

const answered = (reply: Reply<Advice>): TemplateResult => {
  if (!reply.ok) return problem(reply.detail, reply.errors);
  const { kind, measured, text, basis } = reply.body;
  return html`
    ${measured === undefined ? nothing : html`<p>${measured}</p>`}
    <p>${kind === 'change' ? html`<strong>${text}</strong>` : text}</p>
    ${basis === undefined ? nothing : html`<p class="muted">${basis}</p>`}`;
};
