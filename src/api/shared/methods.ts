/** The methods of the API. Apart from `calls.ts`, which loads the schemas, so that a cold start loads none. */
export const METHODS = ['GET', 'POST', 'PUT', 'DELETE'] as const;
