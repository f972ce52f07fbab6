/** Options of a task: how the command line reads them, and how the command line and the console show them. */
import type { TaskOptions } from '../src/domain/tasks/task.ts';

interface TaskOption {
  readonly option: string;
  readonly help: string;
  readonly isNumber?: true;
  /** Not allowed for a file, because one value for all lines would make their tasks the same. */
  readonly isForOne?: true;
  /** Its label on the command line and in the console, and the unit after its value. */
  readonly shown?: { readonly cli: string; readonly page: string; readonly unit?: string };
}

const TABLE: Readonly<Record<keyof TaskOptions | 'expiresIn', TaskOption>> = {
  correlationId: {
    option: '--correlation-id <text>',
    help: 'your own reference, e.g. an order number; shown with the task',
    shown: { cli: 'correlation', page: 'Correlation id' },
  },
  priority: {
    option: '--priority <n>',
    help: '0 to 9; 9 is the most urgent (default: 0)',
    isNumber: true,
    shown: { cli: 'priority', page: 'Priority', unit: ' of 9' },
  },
  weight: {
    option: '--weight <n>',
    help: 'weight of the task, which counts towards batch.maxWeight (default: 1)',
    isNumber: true,
    shown: { cli: 'weight', page: 'Weight' },
  },
  coalesceKey: {
    option: '--coalesce-key <text>',
    help: 'only the newest waiting task with this key runs; older ones are superseded',
    isForOne: true,
    shown: { cli: 'key', page: 'Coalesce key' },
  },
  // The option is not called `--version`, because `--version` prints the release.
  version: {
    option: '--task-version <n>',
    help: 'with --coalesce-key: the task with the highest version is the newest, in any order of sending',
    isNumber: true,
    isForOne: true,
    shown: { cli: 'version', page: 'Version' },
  },
  // A task has its deadline (`startBy`) instead of this field.
  expiresIn: {
    option: '--expires-in <duration>',
    help: 'the task fails if no batch claims it within this time, e.g. 10m',
  },
  callback: {
    option: '--callback <destination>',
    help: 'configured destination that receives an event when the task ends',
    shown: { cli: 'callback', page: 'Callback' },
  },
  fanOutItem: {
    option: '--fan-out-item <id>',
    help: 'item of a fan-out to ack when the task ends',
    isForOne: true,
    shown: { cli: 'fan-out item', page: 'Fan-out item' },
  },
};

/** The options, by the name of their field in a register message. */
export const TASK_OPTIONS = Object.entries(TABLE) as readonly (readonly [
  field: keyof typeof TABLE,
  taken: TaskOption,
])[];

/** The options of a task, with the labels of the command line or of the console. */
export const shownOptions = (task: object, where: 'cli' | 'page') =>
  TASK_OPTIONS.flatMap(([field, { shown }]) => {
    const value = (task as Readonly<Partial<Record<string, string | number>>>)[field];
    return shown === undefined || value === undefined
      ? []
      : [{ field, name: shown[where], text: `${value}${shown.unit ?? ''}` }];
  });
