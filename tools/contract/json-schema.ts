/** Converts zod schemas to JSON Schemas. */
import * as z from 'zod/mini';

/** A JSON object. */
export type Json = Readonly<Record<string, unknown>>;

/**
 * `target`: the draft. `draft-2020-12` is for files and OpenAPI. `draft-7` is for AsyncAPI, whose tools read no other
 * draft.
 *
 * `closed`: unknown fields are invalid. Tests use closed schemas to find undocumented fields. The published schemas of
 * answers are open, so that a new field breaks no client.
 */
export interface How {
  readonly target?: 'draft-2020-12' | 'draft-7';
  readonly closed?: boolean;
}

interface Written {
  readonly $defs?: Readonly<Record<string, Json>>;
  readonly $ref?: string;
}

/** The schema as zod converts it. `$defs` contains all schemas that have an id, including the schema itself. */
const written = (schema: z.core.$ZodType, { target = 'draft-2020-12', closed = false }: How): Json & Written => {
  const {
    $schema: _,
    definitions,
    $defs = definitions,
    ...rest
  } = z.toJSONSchema(schema, {
    target,
    io: closed ? 'output' : 'input',
    // Zod cannot convert custom checks. Their published form is in the metadata of the schema.
    unrepresentable: 'any',
    override: ({ jsonSchema }) => inForms(jsonSchema as Record<string, unknown>, { target, closed }),
  }) as Json;
  return { ...rest, ...($defs === undefined ? {} : { $defs }) } as Json & Written;
};

/** Replaces a schema with the forms in its metadata, if the metadata contains forms. */
const inForms = (schema: Record<string, unknown>, how: How): void => {
  const { forms, id, description } = schema;
  if (!Array.isArray(forms)) return;
  for (const name of Object.keys(schema)) delete schema[name];
  Object.assign(schema, { anyOf: forms.map((form) => written(form, how)), id, description });
};

/** A JSON Schema on its own. The named schemas that it refers to are under `#/$defs/NAME`. */
export const jsonSchema = (schema: z.core.$ZodType, how: How = {}): Json => {
  const { $ref, $defs = {}, ...rest } = written(schema, how);
  const own = $ref?.split('/').at(-1) ?? '';
  const { [own]: named = {}, ...others } = $defs;
  return { ...named, ...rest, ...(Object.keys(others).length > 0 ? { $defs: others } : {}) };
};

/** Collects named schemas. References to them have the form `#/components/schemas/NAME`. */
export class Components {
  readonly #schemas: Record<string, unknown> = {};
  readonly #how: How;
  constructor(how: How = {}) {
    this.#how = how;
  }

  /** The JSON Schema to write into the document. It is a reference if the schema has a name. */
  of(schema: z.core.$ZodType): Json {
    const { $defs = {}, ...rest } = written(schema, this.#how);
    for (const [name, each] of Object.entries($defs)) this.#schemas[name] ??= moved(each);
    return moved(rest) as Json;
  }

  /** All collected schemas in alphabetical order, so that the order of calls does not change the document. */
  sorted(): Json {
    return Object.fromEntries(Object.entries(this.#schemas).sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

const PLACE = '#/components/schemas/';

/** Changes references from `#/$defs` or `#/definitions` to `#/components/schemas`. */
const moved = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(moved);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      name === '$ref' && typeof each === 'string' ? each.replace(/^#\/(?:\$defs|definitions)\//, PLACE) : moved(each),
    ]),
  );
};
