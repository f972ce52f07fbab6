/** Signs requests to a function URL (AWS_IAM): Signature Version 4 for the service `lambda`. */
import { SignatureV4 } from '@smithy/signature-v4';

/** Whose request it is; credentials and hash are an SDK client's, which has found them and renews them. */
export type Signer = Pick<ConstructorParameters<typeof SignatureV4>[0], 'region' | 'credentials' | 'sha256'>;

/** A request as `fetch` takes it. */
export interface SignedRequest {
  readonly address: string;
  readonly init: RequestInit;
}

/** @param init its headers are a plain object, its body a text. */
export const requestSigner = (signer: Signer): ((address: string, init: RequestInit) => Promise<SignedRequest>) => {
  const signature = new SignatureV4({ service: 'lambda', ...signer });
  return async (address, init) => {
    const { protocol, host, hostname, port, pathname, searchParams } = new URL(address);
    const path = strictly(pathname);
    const query = Object.fromEntries(searchParams);
    const { headers } = await signature.sign({
      method: init.method ?? 'GET',
      protocol,
      hostname,
      ...(port === '' ? {} : { port: Number(port) }),
      path,
      query,
      headers: { ...(init.headers as Record<string, string> | undefined), host },
      ...(init.body ? { body: init.body } : {}),
    });
    // Another host must not get the session's token, nor a body that is for this one.
    return { address: `${protocol}//${host}${path}${textOf(query)}`, init: { ...init, headers, redirect: 'manual' } };
  };
};

/** As the signature is computed: what `encodeURIComponent` leaves alone, others encode. */
const strictly = (encoded: string): string =>
  encoded.replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

/** Not by `URLSearchParams`: its `+` for a space is a plus to the signature. */
const textOf = (query: Readonly<Record<string, string>>): string => {
  const parts = Object.entries(query).map((pair) => pair.map((text) => strictly(encodeURIComponent(text))).join('='));
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
};
