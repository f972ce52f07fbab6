/** The instances of Groupage in a stack, by its outputs: mostly one; somebody's own stack may have several. */
import { API_URL, REGISTER_QUEUE_URL, SERVICE } from '../../src/domain/deployed/environment.ts';
import type { FoundStack } from './stacks.ts';

/** What CloudFormation takes for a stack's name, or its ARN; of further instances their id behind it. */
const NAME =
  /^(?<stack>[a-z][a-z0-9-]{0,127}|arn:[\w-]+:cloudformation:[\w-]+:\d+:stack\/[\w-]+\/[\w-]+)(?:\/(?<id>[a-z0-9]+))?$/i;

export interface InstanceName {
  /** A name, or an ARN. */
  readonly stack: string;
  /** Empty for the first. */
  readonly id: string;
}

/** @param text `STACK`, or `STACK/ID`. @returns undefined for what can be neither. */
export const parseInstance = (text: string): InstanceName | undefined => {
  const { stack, id = '' } = NAME.exec(text)?.groups ?? {};
  return stack === undefined ? undefined : { stack, id };
};

export interface Instance {
  /** Of its API, without the version. */
  readonly apiUrl: string;
  /** What its metrics are of, and what its functions are told that they are. */
  readonly service: string;
}

/** One of a stack's instances. */
export const instanceIn = ({ name, outputs }: FoundStack, id: string): Instance | undefined => {
  const apiUrl = outputs[`${id}${API_URL}`];
  return apiUrl === undefined ? undefined : { apiUrl, service: outputs[`${id}${SERVICE}`] ?? name };
};

/** All of a stack's instances, as they are typed. An output of somebody else's may end like one of ours: two do not. */
export const instancesOf = ({ name, outputs }: FoundStack): string[] =>
  Object.keys(outputs).flatMap((key) => {
    if (key === API_URL) return [name];
    const id = key.endsWith(API_URL) ? key.slice(0, -API_URL.length) : '';
    return id !== '' && `${id}${REGISTER_QUEUE_URL}` in outputs ? [`${name}/${id}`] : [];
  });
