/** What a producer may ask of a task: how the command line takes it, and how it and the console's page show it. */
import type { TaskOptions } from '../src/domain/tasks/task.ts';

interface TaskOption {
  readonly option: string;
  readonly help: string;
  readonly isNumber?: true;
  /** A file's lines each bring their own: with one for all of them many tasks would be the same. */
  readonly isForOne?: true;
  /** Its name on the command line and on the page, and what is behind its value. */
  readonly shown?: { readonly cli: string; readonly page: string; readonly unit?: string };
}

const TABLE: Readonly<Record<keyof TaskOptions | 'expiresIn', TaskOption>> = {
  correlationId: {
    option: '--correlation-id <text>',
    help: 'shown with the task, for who looks for it',
    shown: { cli: 'correlation', page: 'Correlation id' },
  },
  priority: {
    option: '--priority <n>',
    help: '0 to 9, the most urgent',
    isNumber: true,
    shown: { cli: 'priority', page: 'Priority', unit: ' of 9' },
  },
  weight: {
    option: '--weight <n>',
    help: "what it counts of its batch's weight",
    isNumber: true,
    shown: { cli: 'weight', page: 'Weight' },
  },
  coalesceKey: {
    option: '--coalesce-key <text>',
    help: 'of the waiting tasks with this key only the newest is done',
    isForOne: true,
    shown: { cli: 'key', page: 'Coalesce key' },
  },
  // `--version` is the command's own.
  version: {
    option: '--task-version <n>',
    help: 'which state the task brings: a higher one is newer, whenever it was sent',
    isNumber: true,
    isForOne: true,
    shown: { cli: 'version', page: 'Version' },
  },
  // A task shows the moment that it comes to.
  expiresIn: { option: '--expires-in <duration>', help: 'fail if no batch has it by then, such as 10m' },
  callback: {
    option: '--callback <destination>',
    help: 'the configured destination that is told how it ended',
    shown: { cli: 'callback', page: 'Callback' },
  },
  fanOutItem: {
    option: '--fan-out-item <id>',
    help: 'the item of a fan-out that is done when the task has ended',
    isForOne: true,
    shown: { cli: 'fan-out item', page: 'Fan-out item' },
  },
};

/** Each, by the name of its field in a register message. */
export const TASK_OPTIONS = Object.entries(TABLE) as readonly (readonly [
  field: keyof typeof TABLE,
  taken: TaskOption,
])[];

/** What was asked of a task, in the words of the command line or of the page. */
export const shownOptions = (task: object, where: 'cli' | 'page') =>
  TASK_OPTIONS.flatMap(([field, { shown }]) => {
    const value = (task as Readonly<Partial<Record<string, string | number>>>)[field];
    return shown === undefined || value === undefined
      ? []
      : [{ field, name: shown[where], text: `${value}${shown.unit ?? ''}` }];
  });
