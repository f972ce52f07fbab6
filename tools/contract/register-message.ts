/** The messages of producers, and rejected messages. */
import * as z from 'zod/mini';
import { list, moment, onlyTrue, PROBLEM_PLACE, text, whole, word } from '../../src/api/shared/answer-schemas.ts';
import { OPERATION_NAME_PATTERN } from '../../src/domain/ids.ts';
import { REDRIVE_LIMITS, redriveFields } from '../../src/domain/register/redrive-message.ts';
import { REGISTER_MAX_BYTES } from '../../src/domain/register/register-body.ts';
import { EXPIRES_RULE, REGISTER_LIMITS, registerFields } from '../../src/domain/register/register-fields.ts';
import { PAYLOAD_MAX_BYTES } from '../../src/domain/tasks/task.ts';
import { published } from '../../src/util/limits.ts';
import { PROBLEMS_SHOWN } from '../../src/util/problems.ts';
import { registerMessage } from './examples.ts';

const BEYOND =
  'Texts must be well-formed Unicode (no lone surrogates). Their lengths are counted in UTF-16 code units.';

/** Adds descriptions to the schemas with which the register function reads messages. */
const described = <Shape extends object>(
  { shape }: { readonly shape: Shape },
  fields: Readonly<Record<keyof Shape, Readonly<Record<string, unknown>>>>,
): void => {
  for (const [name, meta] of Object.entries(fields) as [keyof Shape, object][])
    z.globalRegistry.add(shape[name] as z.core.$ZodType, { ...meta });
};

described(registerFields, {
  operation: {
    ...published({ pattern: OPERATION_NAME_PATTERN }),
    description: 'The name of a configured operation. Any other name is rejected.',
    examples: [registerMessage.operation],
  },
  payload: {
    type: 'object',
    description: `At most ${PAYLOAD_MAX_BYTES} bytes. It must contain the grouping fields of its operation. It is stored and passed on byte for byte: numbers of any size, the order of fields and spaces are kept.`,
    examples: [registerMessage.payload],
  },
  id: {
    ...published(REGISTER_LIMITS.id),
    description:
      'The id of the task. Another message with this id is the same task, until the task is deleted (`keepTasks`). By default the id of the SQS message.',
  },
  correlationId: {
    ...published(REGISTER_LIMITS.correlationId),
    description: 'A text of your choice, shown with the task.',
  },
  priority: {
    ...published(REGISTER_LIMITS.priority),
    description:
      '9 is the most urgent. Tasks with a higher priority go first, but waiting tasks of a lower priority are not delayed without limit.',
  },
  weight: {
    ...published(REGISTER_LIMITS.weight),
    description:
      'The weight that counts towards `batch.maxWeight`; 1 by default. A task heavier than a batch may be is rejected.',
  },
  coalesceKey: {
    ...published(REGISTER_LIMITS.coalesceKey),
    description:
      'Among waiting tasks of a Target with the same key, and of the same sender unless the rules for producers say otherwise, the newer one replaces the older. The newer task is the one with the higher `version`, otherwise the one that was sent later.',
  },
  version: {
    ...published(REGISTER_LIMITS.version),
    description:
      'A version number, used with `coalesceKey` or `merge` to choose the newest task. A higher version is newer, whenever it was sent. A task with a version is newer than a task without one.',
  },
  expiresIn: {
    ...published(REGISTER_LIMITS.expiresIn),
    description: `If the task is in no batch this long after its registration, it fails with the code \`expired\`. It ${EXPIRES_RULE}.`,
    examples: [registerMessage.expiresIn],
  },
  callback: {
    ...published({ pattern: OPERATION_NAME_PATTERN }),
    description:
      "The name of a configured destination (never an address), which receives the event of the task's end instead of its operation's `callbacks`. Any other name is rejected.",
    examples: ['ops'],
  },
  fanOutItem: {
    ...published(REGISTER_LIMITS.fanOutItem),
    description:
      "The id of a fan-out's item with its token, `fanOutId:groupId:index:TOKEN`. The item is acked when the task ends. Without the token, the rules for producers must allow it.",
    examples: ['01J9ZQ4:0:17:kGb1c0Zc5yD3mNq2vXw8Qg'],
  },
});

export const REGISTER_MESSAGE = registerFields;
z.globalRegistry.add(REGISTER_MESSAGE, {
  id: 'RegisterMessage',
  title: 'Register message',
  description: `One task: the body of an SQS message on the register queue, JSON, at most ${REGISTER_MAX_BYTES} bytes. ${BEYOND} Groupage rejects what this schema rejects. It also checks the message against the configuration (operations, destinations, grouping values, sizes of batches). Rejected messages go to the rejected queue with their errors.`,
});

described(redriveFields, {
  id: { ...published(REDRIVE_LIMITS.id), description: 'The id of the task. An unknown id is rejected.' },
  run: { ...published(REDRIVE_LIMITS.run), description: 'The number of the run in which it failed.' },
});

export const REDRIVE_MESSAGE = redriveFields;
z.globalRegistry.add(REDRIVE_MESSAGE, {
  id: 'RedriveMessage',
  title: 'Redrive message',
  description:
    'Runs a failed task again; a message on the register queue. The rule `producers.redrive` of the operation must allow the sender. A message that is repeated or late, or names a task that waits or has succeeded, changes nothing.',
});

export const REJECTED_MESSAGE = z
  .object({
    messageId: text('The SQS message id of the rejected message.'),
    queue: z.optional(
      word('The queue of the message, if it is neither the register nor the batch queue', {
        callback: 'an event that no destination can accept',
      }),
    ),
    sentAt: z.optional(moment('When the rejected register message was first sent.')),
    sender: z.optional(
      text('Who sent the rejected register message: `queue:` or `api:`, and the unique id of the role or user.'),
    ),
    rejectedAt: moment('When it was rejected.'),
    errors: list(PROBLEM_PLACE, `All errors in the message, at most ${PROBLEMS_SHOWN}.`, 0, PROBLEMS_SHOWN),
    errorsInAll: z.optional(whole('The number of all errors, if there are more than are listed.', PROBLEMS_SHOWN + 1)),
    body: text('The body of the message as received. Only its beginning, if the errors do not fit beside the whole.'),
    bodyBytes: z.optional(whole('The length of the whole body in bytes, if it is cut.')),
    bodyIsCut: z.optional(onlyTrue('The body is cut.')),
  })
  .check(
    z.meta({
      id: 'RejectedMessage',
      title: 'Rejected message',
      description: 'A message in the rejected queue: the message as received, with its errors.',
    }),
  );
