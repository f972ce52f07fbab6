/** The option `api` of the CDK app and of `npm run deploy`, as text. */
import { InvalidOption } from './invalid-option.ts';

/** Without CDK's types, so that a command can check the text before it loads the CDK. */
export type ApiText = 'function-url' | 'http-api' | { readonly vpcEndpointIds: readonly string[] };

const VPC_ENDPOINT = /^vpce-[0-9a-f]{8,17}$/;

/**
 * @param text `function-url`, `http-api`, or the ids of VPC endpoints, separated by commas.
 * @throws InvalidOption
 */
export const parseApi = (text: string): ApiText => {
  if (text === 'function-url' || text === 'http-api') return text;
  const vpcEndpointIds = text.split(',');
  if (vpcEndpointIds.every((id) => VPC_ENDPOINT.test(id))) return { vpcEndpointIds };
  throw new InvalidOption(
    `the API is function-url, http-api, or ids of VPC endpoints with commas between them (vpce-0123456789abcdef0), not ${JSON.stringify(text)}`,
  );
};
