/** Failed tasks by cause, and undelivered messages. Failed tasks and messages can be redriven, after a dry run. */
import { html, nothing, type TemplateResult } from 'lit';
import type { Queues } from '../../../../../src/api/queues/responses.ts';
import type { FailureGroup, Failures } from '../../../../../src/api/tasks/responses.ts';
import { PATHS } from '../base/api.ts';
import { count, plural } from '../base/format.ts';
import { href } from '../base/router.ts';
import type { Page, Screen } from '../base/screen.ts';
import { heading } from '../components/heading.ts';
import { command, empty, link, refused, shape, skeleton } from '../components/parts.ts';
import { askRedrive, redriveOfDeadLetters, redriveOfTasks } from '../components/redrive-dialog.ts';
import { pager, table } from '../components/table.ts';
import { errorMeans } from '../model/words.ts';

const EXAMPLES = 5;

export const failuresScreen = (page: Page, cursor: string | undefined): Screen => {
  const path = PATHS.failures(cursor);
  return {
    title: 'Failures',
    paths: () => [path, PATHS.queues],
    render: () => {
      const failures = page.live.body<Failures>(path);
      const queues = page.live.body<Queues>(PATHS.queues);
      return html`
        ${heading({ name: 'Failures' })}
        <section aria-labelledby="causes-title">
          <h2 id="causes-title">Failed tasks, by cause</h2>
          ${failures?.groups.length === 0 ? nothing : html`<p class="lead" role="status">${summary(failures)}</p>`}
          ${refused(page, path) ?? groups(page, failures)}
          ${pager(
            cursor === undefined ? undefined : href({ view: 'failures' }),
            failures?.cursor === undefined ? undefined : href({ view: 'failures', cursor: failures.cursor }),
            'failures',
          )}
        </section>
        <section aria-labelledby="letters-title">
          <h2 id="letters-title">Undelivered messages</h2>
          <p class="lead">Dead letters are messages that failed five times (events: 1,000 times). The sweep sends them again by itself. Rejected messages and given-up events stay until a user sends them again or discards them: open them to see the reasons. SQS deletes all of them after 14 days.</p>
          ${refused(page, PATHS.queues) ?? letters(page, queues)}
        </section>
        ${command('failures')}`;
    },
  };
};

const summary = (failures: Failures | undefined): unknown => {
  if (!failures) return skeleton('m');
  return `${plural(failures.looked, 'failed task')}, grouped into ${plural(failures.groups.length, 'cause')}${failures.cursor ? '; there are more on the next page' : ''}.`;
};

const groups = (page: Page, failures: Failures | undefined): TemplateResult =>
  failures?.groups.length === 0
    ? empty('No failed task', 'Failed tasks are listed here with the reason until they are redriven or deleted.')
    : html`<ul class="causes">${failures ? failures.groups.map((each) => group(page, each)) : html`<li class="cause">${skeleton('l')}</li>`}</ul>`;

const group = (page: Page, of: FailureGroup): TemplateResult => html`
  <li class="cause">
    <div class="top">
      <h3>${shape('bad')} <code>${of.code}</code> <span class="muted">${errorMeans(of.code) ?? 'error code of the downstream'}</span></h3>
      <button @click=${() => askRedrive(page, redriveOfTasks(of.ids, `Redrive ${plural(of.tasks, 'task')} of this cause`))}>
        Redrive ${plural(of.tasks, 'task')}…</button>
    </div>
    <pre class="quote" tabindex="0" role="group" aria-label="The error of one of these tasks">${of.message}</pre>
    <p>${plural(of.tasks, 'task')} in ${plural(of.targets, 'Target')} of ${link({ view: 'operation', name: of.operation }, of.operation)}.</p>
    <p class="examples">${of.ids.slice(0, EXAMPLES).map((id) => link({ view: 'task', id }, id, 'id'))}
      ${of.ids.length > EXAMPLES ? html`<span class="muted">and ${count(of.ids.length - EXAMPLES)} more</span>` : nothing}</p>
  </li>`;

interface Letters {
  readonly queue: string;
  readonly name: string;
  readonly messages: number;
}

const letters = (page: Page, queues: Queues | undefined): TemplateResult =>
  table<Letters>({
    name: 'Dead letters and rejected messages',
    columns: [
      {
        name: 'Queue',
        cell: ({ queue, name }) => (queue === 'rejected' || queue === 'given-up' ? link({ view: queue }, name) : name),
      },
      {
        name: 'Messages',
        number: true,
        cell: ({ messages }) => (messages > 0 ? html`<strong class="bad">${count(messages)}</strong>` : '0'),
      },
      {
        name: 'Send again',
        cell: ({ queue, name, messages }) =>
          messages > 0
            ? html`<button class="small" @click=${() => askRedrive(page, redriveOfDeadLetters(queue))}>Redrive…<span class="unseen"> ${name}</span></button>`
            : html`<span class="muted">nothing to send</span>`,
      },
    ],
    rows: queues && [
      ...queues.queues.map(({ queue, deadLetters }) => ({
        queue,
        name: `dead letters of the ${queue} queue`,
        messages: deadLetters,
      })),
      { queue: 'rejected', name: 'rejected messages', messages: queues.rejected },
      ...(queues.givenUp === undefined
        ? []
        : [{ queue: 'given-up', name: 'given-up events', messages: queues.givenUp }]),
    ],
    expected: 5,
    empty: empty('There are no queues', ''),
  });
