/** How the calls that take several requests ask the API, whoever carries the requests: the client, or the command line. */

interface HowToAsk {
  /** @default POST */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Once it aborts the API is not asked again where no answer came; a request that is under way is answered. */
  readonly signal?: AbortSignal;
  /** The call's id, token or claimId, which may be made up: an error brings it along. */
  readonly name?: string;
}

/** Asks the API. Answers its JSON. @param body JSON text, or what becomes it; none where the call takes none */
export type Ask = (path: string, body?: object | string, how?: HowToAsk) => Promise<unknown>;
