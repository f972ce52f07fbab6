/** Finds the instances of Groupage in a stack by its outputs. Most stacks have one; a user's own stack may have several. */
import { API_URL, REGISTER_QUEUE_URL, SERVICE } from '../../src/domain/deployed/environment.ts';
import type { FoundStack } from './stacks.ts';

/** Name or ARN of a stack, with `/ID` for an instance other than the first. */
const NAME =
  /^(?<stack>[a-z][a-z0-9-]{0,127}|arn:[\w-]+:cloudformation:[\w-]+:\d+:stack\/[\w-]+\/[\w-]+)(?:\/(?<id>[a-z0-9]+))?$/i;

export interface InstanceName {
  /** Name or ARN of the stack. */
  readonly stack: string;
  /** Id of the instance; empty for the first instance of the stack. */
  readonly id: string;
}

/** @param text `STACK` or `STACK/ID`. @returns undefined if the text is neither. */
export const parseInstance = (text: string): InstanceName | undefined => {
  const { stack, id = '' } = NAME.exec(text)?.groups ?? {};
  return stack === undefined ? undefined : { stack, id };
};

export interface Instance {
  /** URL of the instance's API, without the version. */
  readonly apiUrl: string;
  /** The service dimension of the instance's metrics. The functions of the instance get it in their environment. */
  readonly service: string;
}

/** One instance of a stack. */
export const instanceIn = ({ name, outputs }: FoundStack, id: string): Instance | undefined => {
  const apiUrl = outputs[`${id}${API_URL}`];
  return apiUrl === undefined ? undefined : { apiUrl, service: outputs[`${id}${SERVICE}`] ?? name };
};

/**
 * The instances of a stack, as NAME or NAME/ID. Checks two outputs, because the name of an unrelated output may end in
 * the same word.
 */
export const instancesOf = ({ name, outputs }: FoundStack): string[] =>
  Object.keys(outputs).flatMap((key) => {
    if (key === API_URL) return [name];
    const id = key.endsWith(API_URL) ? key.slice(0, -API_URL.length) : '';
    return id !== '' && `${id}${REGISTER_QUEUE_URL}` in outputs ? [`${name}/${id}`] : [];
  });
