/** Tests of one rule: every template keeps it, and a template that breaks it is reported. */
import { describe, expect, it } from 'vitest';
import type { Resource, Rule, Template } from './rules/template.ts';
import { SUBJECTS, type Subject } from './templates.ts';

/** A change to a template: its name, the change, and the expected complaint. */
export type Break = readonly [what: string, change: (template: Template) => void, complaint: RegExp];

/** Tests a rule under its sentence. Each break changes the first of the subjects. */
export const promise = (
  sentence: string,
  rule: Rule,
  breaks: readonly Break[],
  subjects: readonly Subject[] = SUBJECTS,
): void => {
  describe(sentence, () => {
    it.each(subjects)('holds in $name', ({ template }) => expect(rule(template)).toEqual([]));
    it.each(breaks)('fails for %s', (_, change, complaint) => {
      const broken = structuredClone((subjects[0] as Subject).template);
      change(broken);
      expect(rule(broken).join('\n')).toMatch(complaint);
    });
  });
};

const put = (object: object, [key = '', ...rest]: readonly string[], value: unknown): void => {
  if (rest.length === 0) {
    if (value === undefined) Reflect.deleteProperty(object, key);
    else Reflect.set(object, key, value);
    return;
  }
  if (typeof Reflect.get(object, key) !== 'object') Reflect.set(object, key, {});
  put(Reflect.get(object, key), rest, value);
};

/** The first resource of a type whose id fits. */
export const find = (template: Template, type: string, id: RegExp = /./): [string, Resource] => {
  const found = Object.entries(template.Resources).find(([each, { Type }]) => Type === type && id.test(each));
  if (!found) throw new Error(`no ${type} like ${id} to break`);
  return found;
};

/** Sets a property of the first resource of a type whose id fits; undefined removes it. */
export const set =
  (type: string, path: string, value: unknown, id?: RegExp) =>
  (template: Template): void =>
    put(find(template, type, id)[1].Properties, path.split('.'), value);

/** Adds a resource. */
export const add =
  (id: string, Type: string, Properties: Record<string, unknown> = {}) =>
  (template: Template): void => {
    template.Resources[id] = { Type, Properties };
  };

/** Adds a copy of the first resource of a type whose id fits, under another id. */
export const copy =
  (type: string, id: RegExp, to: string) =>
  (template: Template): void => {
    template.Resources[to] = structuredClone(find(template, type, id)[1]);
  };

/** Removes the first resource of a type whose id fits. */
export const remove =
  (type: string, id?: RegExp) =>
  (template: Template): void => {
    delete template.Resources[find(template, type, id)[0]];
  };
