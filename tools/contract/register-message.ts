/** What producers send, and what comes back of it that is refused. */
import * as z from 'zod/mini';
import { list, moment, onlyTrue, PROBLEM_PLACE, text, whole, word } from '../../src/api/shared/answer-schemas.ts';
import { OPERATION_NAME_PATTERN } from '../../src/domain/ids.ts';
import { REDRIVE_LIMITS, redriveFields } from '../../src/domain/register/redrive-message.ts';
import { REGISTER_MAX_BYTES } from '../../src/domain/register/register-body.ts';
import { EXPIRES_RULE, REGISTER_LIMITS, registerFields } from '../../src/domain/register/register-fields.ts';
import { PAYLOAD_MAX_BYTES } from '../../src/domain/tasks/task.ts';
import { published } from '../../src/util/limits.ts';
import { PROBLEMS_SHOWN } from '../../src/util/problems.ts';

const BEYOND =
  'Texts are to be well-formed (no half of a surrogate pair), and their characters are counted as UTF-16 code units.';

/** What register reads by, with what it says of each field. */
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
    description: 'The name of a configured operation; any other is refused.',
  },
  payload: {
    type: 'object',
    description: `At most ${PAYLOAD_MAX_BYTES} bytes. It is stored and handed on to the letter: numbers of any size, order and spaces survive. Its operation's grouping keys have to be in it.`,
  },
  id: {
    ...published(REGISTER_LIMITS.id),
    description:
      'Names the task: another message with this id is the same task, until it expires. Without it the task is named after its SQS message.',
  },
  correlationId: { ...published(REGISTER_LIMITS.correlationId), description: 'Shown with the task.' },
  priority: {
    ...published(REGISTER_LIMITS.priority),
    description: 'The most urgent is 9. Urgent ones go first, and none starves.',
  },
  weight: {
    ...published(REGISTER_LIMITS.weight),
    description:
      "What it counts of its batch's `batch.maxWeight`; 1 without it. More than a batch may have is refused.",
  },
  coalesceKey: {
    ...published(REGISTER_LIMITS.coalesceKey),
    description:
      'A newer waiting task of the same Target with the same key is done instead of the older one. Newer is the one with the higher `version`, otherwise the one that was sent later.',
  },
  version: {
    ...published(REGISTER_LIMITS.version),
    description:
      'Which state of its subject the task brings, where `coalesceKey` or `merge` choose the newest: a higher one is newer, whenever it was sent. A task with a version is newer than one without.',
  },
  expiresIn: {
    ...published(REGISTER_LIMITS.expiresIn),
    description: `If no batch has it so long after its registration, it has failed with the code \`expired\`. It ${EXPIRES_RULE}.`,
  },
  callback: {
    ...published({ pattern: OPERATION_NAME_PATTERN }),
    description:
      "The name of a configured destination, never an address, that is told how the task ended instead of its operation's `callbacks`; any other is refused.",
  },
  fanOutItem: {
    ...published(REGISTER_LIMITS.fanOutItem),
    description: "The id of a fan-out's item, `fanOutId:groupId:index`, that is done when the task has ended.",
  },
});

export const REGISTER_MESSAGE = registerFields;
z.globalRegistry.add(REGISTER_MESSAGE, {
  id: 'RegisterMessage',
  title: 'Register message',
  description: `One task: the body of an SQS message on the register queue, JSON, at most ${REGISTER_MAX_BYTES} bytes. ${BEYOND} What this schema refuses is refused; what only the configuration can tell (operations, destinations, the values that a Target is made of, sizes of batches) is checked by Groupage, and goes to the rejected queue with its reasons.`,
});

described(redriveFields, {
  id: { ...published(REDRIVE_LIMITS.id), description: 'The task; one that is unknown is refused.' },
  run: { ...published(REDRIVE_LIMITS.run), description: 'The run in which it failed.' },
});

export const REDRIVE_MESSAGE = redriveFields;
z.globalRegistry.add(REDRIVE_MESSAGE, {
  id: 'RedriveMessage',
  title: 'Redrive message',
  description:
    'Another run for a task that failed, on the register queue. Twice, late, or for a task that waits or succeeded it changes nothing.',
});

export const REJECTED_MESSAGE = z
  .object({
    messageId: text("SQS's id of the message that was refused."),
    queue: z.optional(
      word('The queue that it came from, where that is not the register or the batch queue', {
        callback: 'an event that no destination takes',
      }),
    ),
    sentAt: z.optional(moment('When the refused register message was sent first.')),
    rejectedAt: moment('When it was refused.'),
    errors: list(
      PROBLEM_PLACE,
      `Everything that is wrong with it, ${PROBLEMS_SHOWN} reasons at the most.`,
      0,
      PROBLEMS_SHOWN,
    ),
    errorsInAll: z.optional(
      whole('How many reasons there are, where they are more than are named.', PROBLEMS_SHOWN + 1),
    ),
    body: text('The message as it came; its beginning, if it leaves no room for its reasons.'),
    bodyBytes: z.optional(whole('How long it was, where it was cut.')),
    bodyIsCut: z.optional(onlyTrue('Where it was cut.')),
  })
  .check(
    z.meta({
      id: 'RejectedMessage',
      title: 'Rejected message',
      description: 'What lies in the rejected queue: a message as it came, and why it was refused.',
    }),
  );
