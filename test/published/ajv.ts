/** Validators of other people's, for what we publish. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Json } from '../../tools/contract/json-schema.ts';

const CONTRACT = join(import.meta.dirname, '../../contract');

/** A document of the contract, as it is committed. */
export const committed = (name: string): Json => JSON.parse(readFileSync(join(CONTRACT, name), 'utf8')) as Json;

// Strict: a word that the validator does not know is most likely a typing error of ours.
const OPTIONS = { strict: true, strictRequired: false, allowUnionTypes: true, allErrors: true } as const;

const ajv2020 = new Ajv2020(OPTIONS);
addFormats.default(ajv2020);
// Where documents keep their schemas.
ajv2020.addVocabulary(['components']);

/** Of a schema, by the rules of 2020-12. */
export const validator = (schema: Json): ValidateFunction => ajv2020.compile(schema);

/** By the rules of draft 7, in which AsyncAPI's own schema is written; of a schema of ours strictly. */
export const draft7Validator = (schema: Json, strict = true): ValidateFunction => {
  const ajv = new Ajv(strict ? OPTIONS : { strict: false, allErrors: true });
  addFormats.default(ajv);
  return ajv.compile(schema);
};

/** What is wrong, in a line each; nothing where all is right. */
export const faultsOf = (validate: ValidateFunction, value: unknown): readonly string[] =>
  validate(value) ? [] : (validate.errors ?? []).map(said);

const said = ({ instancePath, message, params }: ErrorObject): string =>
  `${instancePath} ${message} ${JSON.stringify(params)}`;
