/** Third-party validators for the published contract. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Json } from '../../tools/contract/json-schema.ts';

const CONTRACT = join(import.meta.dirname, '../../contract');

/** A committed document of the contract. */
export const committed = (name: string): Json => JSON.parse(readFileSync(join(CONTRACT, name), 'utf8')) as Json;

// Strict: a keyword that the validator does not know is probably a typing error.
const OPTIONS = { strict: true, strictRequired: false, allowUnionTypes: true, allErrors: true } as const;

const ajv2020 = new Ajv2020(OPTIONS);
addFormats.default(ajv2020);
// The place where OpenAPI documents keep their schemas.
ajv2020.addVocabulary(['components']);

/** The validator of a schema by JSON Schema 2020-12. */
export const validator = (schema: Json): ValidateFunction => ajv2020.compile(schema);

/**
 * The validator of a schema by draft 7, in which AsyncAPI's own schema is written. Schemas of this repository are
 * compiled strictly.
 */
export const draft7Validator = (schema: Json, strict = true): ValidateFunction => {
  const ajv = new Ajv(strict ? OPTIONS : { strict: false, allErrors: true });
  addFormats.default(ajv);
  return ajv.compile(schema);
};

/** The faults of a value, in one line each; empty if the value is valid. */
export const faultsOf = (validate: ValidateFunction, value: unknown): readonly string[] =>
  validate(value) ? [] : (validate.errors ?? []).map(said);

const said = ({ instancePath, message, params }: ErrorObject): string =>
  `${instancePath} ${message} ${JSON.stringify(params)}`;
