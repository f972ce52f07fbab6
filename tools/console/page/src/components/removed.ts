/** Operations that were removed from the configuration while work of them is left. */
import { html, nothing, type TemplateResult } from 'lit';
import type { RemovedExamined, RemovedOperation } from '../../../../../src/api/doctor/responses.ts';
import { workLeft } from '../../../../work-left.ts';
import { get, PATHS } from '../base/api.ts';
import type { Page } from '../base/screen.ts';
import { command, shape } from './parts.ts';

/**
 * Reads them once, when a view is opened: each read costs a unit for about 80 Targets, and a configuration seldom changes.
 */
export class Removed {
  #found: readonly RemovedOperation[] = [];
  #isPart = false;
  #isAsked = false;
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  get operations(): readonly RemovedOperation[] {
    if (!this.#isAsked) void this.#read();
    return this.#found;
  }

  async #read(): Promise<void> {
    this.#isAsked = true;
    const reply = await get<RemovedExamined>(PATHS.removed);
    // The API of an earlier release does not know this call.
    if (!reply.ok) return reply.status === 404 ? undefined : this.#page.say(reply.detail, 'bad');
    this.#found = reply.body.operations;
    this.#isPart = reply.body.cursor !== undefined;
    this.#page.redraw();
  }

  render(): TemplateResult {
    const { operations } = this;
    return html`
      ${
        operations.length > 0
          ? html`<section aria-labelledby="removed-title">
            <h2 id="removed-title">No longer configured, but with work left</h2>
            ${operations.map(
              (each) => html`<div class="note warn">${shape('warn')}<div>
                <p><strong>${each.operation}</strong>: ${workLeft(each)}. These tasks wait; nothing is lost.</p>
                <p>Configure the operation again: its tasks continue. To drop waiting tasks instead, configure it again, pause it, and cancel them.</p>
              </div></div>`,
            )}
            ${command('doctor')}</section>`
          : nothing
      }
      ${this.#isPart ? html`<p class="muted">Only the first 1,000 Targets were searched for operations that are no longer configured. ${command('doctor')}</p>` : nothing}`;
  }
}
