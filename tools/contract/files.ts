/** Every file of the published contract, as it is committed in `contract/`. */
import type * as z from 'zod';
import { asyncApi } from './asyncapi.ts';
import { configFileSchema } from './config.ts';
import { BATCH_ANSWER, BATCH_CALL, BATCH_EVENT, JOB_REPORT } from './downstream-call.ts';
import { CALLBACK_EVENT } from './events.ts';
import * as examples from './examples.ts';
import { type Json, jsonSchema } from './json-schema.ts';
import { openApi } from './openapi.ts';
import { REDRIVE_MESSAGE, REGISTER_MESSAGE, REJECTED_MESSAGE } from './register-message.ts';

/** The messages that have a schema file, with their schemas and examples. */
const MESSAGES: Readonly<Record<string, readonly [schema: z.core.$ZodType, ...examples: readonly Json[]]>> = {
  'register-message': [REGISTER_MESSAGE, examples.registerMessage],
  'redrive-message': [REDRIVE_MESSAGE, examples.redriveMessage],
  'rejected-message': [REJECTED_MESSAGE, examples.rejectedMessage],
  'downstream-call': [BATCH_CALL, examples.batchCall, examples.mergedCall],
  'downstream-event': [BATCH_EVENT, examples.batchEvent],
  'downstream-answer': [BATCH_ANSWER, examples.resultsAnswer, examples.inputsAnswer, examples.pendingAnswer],
  'job-report': [JOB_REPORT, examples.jobReport],
  'callback-event': [CALLBACK_EVENT, ...examples.callbackEvents],
};

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/** The contents of a schema file. The title and the description come first. */
const file = ({ title, description, ...schema }: Json, shown: readonly Json[]): Json => ({
  $schema: DIALECT,
  title,
  description,
  ...schema,
  examples: shown,
});

/** The files of the contract by their names. */
export const contractFiles = (): Readonly<Record<string, Json>> => ({
  ...Object.fromEntries(
    Object.entries(MESSAGES).map(([name, [schema, ...shown]]) => [
      `${name}.schema.json`,
      file(jsonSchema(schema), shown),
    ]),
  ),
  'config.schema.json': file(configFileSchema(), [examples.configFile]),
  'asyncapi.json': asyncApi(),
  'openapi.json': openApi(),
});

export const printed = (document: Json): string => `${JSON.stringify(document, null, 2)}\n`;
