/** A synthesised template as the rules read it, with lookups. */

export interface Resource {
  readonly Type: string;
  readonly Properties: Record<string, unknown>;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
  readonly DependsOn?: string | readonly string[];
}

export interface Template {
  readonly Resources: Record<string, Resource>;
}

/** The complaints about a template, a line each; empty if the rule holds. */
export type Rule = (template: Template) => string[];

interface Exporting extends Template {
  readonly Outputs?: Record<string, { readonly Value: unknown; readonly Export?: { readonly Name: string } }>;
  readonly Parameters?: Record<string, { readonly Type: string; readonly Default?: unknown }>;
}

/**
 * Joins several stacks into one template. Imports, and names that one stack publishes in a parameter of Systems Manager,
 * become references, so that rules need not name the stack of a resource.
 */
export const joined = (templates: readonly Exporting[]): Template => {
  const outputs = templates.flatMap(({ Outputs = {} }) => Object.values(Outputs));
  const exported = new Map(outputs.flatMap(({ Value, Export }) => (Export ? [[Export.Name, Value] as const] : [])));
  const published = publishedBy(templates);
  const linked = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(linked);
    if (typeof value !== 'object' || value === null) return value;
    const [index, of] = (Reflect.get(value, 'Fn::Select') ?? []) as [number?, { readonly Ref?: string }?];
    const list = published.get(of?.Ref ?? '');
    if (list !== undefined && index !== undefined) return linked(list[index]);
    const imported = Reflect.get(value, 'Fn::ImportValue');
    if (imported === undefined)
      return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, linked(each)]));
    if (!exported.has(String(imported))) throw new Error(`no stack exports ${String(imported)}`);
    return exported.get(String(imported));
  };
  const resources = Object.assign({}, ...templates.map(({ Resources }) => Resources)) as Template['Resources'];
  const all = Object.entries(resources).map(([id, resource]) => [
    id,
    { ...resource, Properties: linked(resource.Properties ?? {}) },
  ]);
  return { Resources: Object.fromEntries(all) as Template['Resources'] };
};

/** By the template parameters that read them: the elements of the lists that stacks publish in Systems Manager. */
const publishedBy = (templates: readonly Exporting[]): ReadonlyMap<string, readonly unknown[]> => {
  const lists = new Map(
    templates.flatMap((template) =>
      ofType(template, 'AWS::SSM::Parameter').map(([, { Name, Value }]) => {
        const [separator, parts] = (Value as { 'Fn::Join': [string, unknown[]] })['Fn::Join'];
        return [Name, parts.filter((part) => part !== separator)] as const;
      }),
    ),
  );
  const readers = templates.flatMap(({ Parameters = {} }) => Object.entries(Parameters));
  return new Map(
    readers.flatMap(([id, { Type, Default }]) => {
      const list = lists.get(Default);
      return list && Type === 'AWS::SSM::Parameter::Value<List<String>>' ? [[id, list] as const] : [];
    }),
  );
};

/** Every resource of a type, by logical id. */
export const ofType = ({ Resources }: Template, type: string): [id: string, properties: Resource['Properties']][] =>
  Object.entries(Resources).flatMap(([id, { Type, Properties }]) => (Type === type ? [[id, Properties]] : []));

/** The logical id that a reference, or an ARN made from one, names; empty for other values. */
export const idOf = (value: unknown): string => {
  if (typeof value !== 'object' || value === null) return '';
  const {
    Ref,
    'Fn::GetAtt': attribute,
    'Fn::Join': join,
  } = value as { Ref?: string; 'Fn::GetAtt'?: [string, string]; 'Fn::Join'?: [string, unknown[]] };
  return Ref ?? attribute?.[0] ?? (join ? idOf(join[1].find((part) => typeof part === 'object')) : '');
};

/** A property inside properties, by its dotted path. */
export const at = (properties: object, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
      properties,
    );

/** A list from a value that CloudFormation writes as one or many. */
export const listOf = <T>(value: T | readonly T[] | undefined): T[] =>
  value === undefined ? [] : ([value].flat() as T[]);

/** A complaint for each path whose value differs from the promised one. */
export const differing = (id: string, properties: object, promised: Readonly<Record<string, unknown>>): string[] =>
  Object.entries(promised).flatMap(([path, value]) => {
    const found = JSON.stringify(at(properties, path));
    return found === JSON.stringify(value) ? [] : [`${id}: ${path} is ${found}, not ${JSON.stringify(value)}`];
  });
