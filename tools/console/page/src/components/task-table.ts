/** A table of tasks. */
import { html, type TemplateResult } from 'lit';
import type { Task } from '../../../../../src/api/tasks/responses.ts';
import { count } from '../base/format.ts';
import { taskState } from '../model/words.ts';
import { badge, idText, link } from './parts.ts';
import { type Column, table } from './table.ts';

const ID: Column<Task> = { name: 'Task', cell: ({ id }) => link({ view: 'task', id }, id, 'id') };
const WAITING: readonly Column<Task>[] = [
  ID,
  { name: 'Status', cell: ({ status }) => badge(taskState(status)) },
  { name: 'Registered', number: true, cell: ({ createdAt }) => html`<time-ago at=${createdAt}></time-ago>` },
  { name: 'Priority', number: true, minor: true, cell: ({ priority }) => priority ?? '–' },
  { name: 'Weight', number: true, minor: true, cell: ({ weight }) => weight ?? '–' },
];
const FAILED: readonly Column<Task>[] = [
  ID,
  { name: 'Error', cell: ({ error }) => (error ? idText(error.code) : '–') },
  {
    name: 'Reason',
    minor: true,
    cell: ({ error }) => html`<span class="clip" title=${error?.message ?? ''}>${error?.message}</span>`,
  },
  { name: 'Attempts', number: true, minor: true, cell: ({ attempts }) => count(attempts) },
  {
    name: 'Failed',
    number: true,
    cell: ({ finishedAt }) => (finishedAt ? html`<time-ago at=${finishedAt}></time-ago>` : '–'),
  },
];

const OUTCOME: readonly Column<Task>[] = [
  ID,
  { name: 'Status', cell: ({ status }) => badge(taskState(status)) },
  {
    name: 'Error',
    cell: ({ error, lastReason }) => {
      const text = error ? `${error.code}: ${error.message}` : lastReason;
      return text ? html`<span class="clip" title=${text}>${text}</span>` : '–';
    },
  },
  {
    name: 'Ended',
    number: true,
    cell: ({ finishedAt }) => (finishedAt ? html`<time-ago at=${finishedAt}></time-ago>` : '–'),
  },
];
const COLUMNS = { waiting: WAITING, failed: FAILED, outcome: OUTCOME } as const;

export const taskTable = (
  name: string,
  tasks: readonly Task[] | undefined,
  empty: TemplateResult,
  kind: keyof typeof COLUMNS = 'waiting',
): TemplateResult => table({ name, columns: COLUMNS[kind], rows: tasks, expected: 3, empty });
