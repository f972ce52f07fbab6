/**
 * Synthesises the stacks of all tests here, and keeps each template for test/cfn-lint. The folder is in
 * `GROUPAGE_TEMPLATES`; without it nothing is kept.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Stack } from 'aws-cdk-lib';
import { Template as Synthesised } from 'aws-cdk-lib/assertions';
import type { Template } from './rules/template.ts';

/** A template with its parameters and outputs. */
export interface Whole extends Template {
  readonly Parameters?: Record<string, { readonly Type: string; readonly Default?: unknown }>;
  readonly Outputs?: Readonly<Record<string, { readonly Value: unknown; readonly Description?: string }>>;
}

export const templateOf = (stack: Stack): Whole => {
  const template = Synthesised.fromStack(stack).toJSON() as Whole;
  const folder = process.env.GROUPAGE_TEMPLATES;
  if (folder) keep(folder, template);
  return template;
};

/** Equal templates share a file. */
const keep = (folder: string, template: Whole): void => {
  const text = JSON.stringify(template, undefined, 1);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${createHash('sha256').update(text).digest('hex')}.json`), text);
};
