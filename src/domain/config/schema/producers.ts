/** The schemas of producers: the ids behind their names, and what an operation lets them do. */
import * as z from 'zod';
import { OPERATION_NAME_PATTERN } from '../../ids.ts';
import { type DEFAULT_RULES, POWERS, type ProducerRules, type Producers } from '../../producers/rules.ts';
import { fault, must, mustUnseen, section, text } from './rules.ts';

/** IAM's unique ids have 16 to 128 characters, and the id of an account, for its root user, has 12. */
const uniqueId = text(
  /^\w{12,128}$/,
  'the unique id of a role or user, such as "AROA1234567890EXAMPLE" (aws iam get-role), or the id of an account for its root user',
);

export const producersSchema = z
  .record(
    z.string().regex(OPERATION_NAME_PATTERN, {
      error: 'is not a valid name for a producer: begin with a letter, then up to 63 letters, digits, - or _',
    }),
    z.array(uniqueId, must('a list of unique ids, [] for a name that grantRegister fills')),
    mustUnseen('an object with names of producers as keys'),
  )
  .default({});

const names = z.array(z.string(must('the name of a producer')));
const rule = <const Words extends readonly [string, ...string[]]>(words: Words, usual: Words[number]) =>
  z
    .union(
      [z.enum(words), names],
      must(`${words.map((word) => JSON.stringify(word)).join(', ')} or a list of names of producers`),
    )
    .default(usual);

const ruleFields = section({
  send: rule(['any'], 'any'),
  coalesce: rule(['any', 'own'], 'own'),
  acknowledge: rule(['any', 'token'], 'token'),
  redrive: rule(['any', 'api'], 'api'),
} satisfies Record<keyof typeof DEFAULT_RULES, z.ZodType>);
export const rulesSchema = ruleFields.prefault({});
export const ruleKeys: readonly string[] = Object.keys(ruleFields.shape);

export const modeSchema = z.enum(['enforce', 'warn'], must('"enforce" or "warn", or left out')).optional();

/** Reports rules that name producers which are not configured. */
export const checkRules = (
  operations: Readonly<Record<string, { readonly producers: ProducerRules }>>,
  producers: Producers,
  context: z.RefinementCtx,
): void => {
  const known = Object.keys(producers);
  const are = known.length > 0 ? `configured are ${known.join(', ')}` : 'none is configured under "producers"';
  for (const [operation, { producers: rules }] of Object.entries(operations))
    for (const power of POWERS) {
      const named = rules[power];
      if (typeof named === 'string') continue;
      const unknown = named.find((name) => !known.includes(name));
      if (unknown !== undefined)
        fault(
          context,
          ['operations', operation, 'producers', power],
          `names an unknown producer, ${JSON.stringify(unknown)}: ${are}. Write [] for the ids of a name that grantRegister fills`,
        );
    }
};
