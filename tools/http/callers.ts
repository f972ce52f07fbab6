/**
 * Accepts only requests that a user of this machine sends on purpose.
 *
 * A page of another site can send requests to this machine, and with a name that resolves to 127.0.0.1 they look same-site
 * (DNS rebinding). So the Host must be a local one, and so must the Origin, if present. Requests of `<img>` and `<script>`
 * have no Origin; the browser marks these with `Sec-Fetch-Site`.
 */
import type { IncomingHttpHeaders } from 'node:http';

type Headers = Pick<IncomingHttpHeaders, 'host' | 'origin' | 'sec-fetch-site'>;

/** @param port port of the server. */
export const isOnPurpose = ({ host = '', origin, 'sec-fetch-site': site }: Headers, port: number): boolean => {
  const hosts = ['127.0.0.1', 'localhost', '[::1]'].map((name) => `${name}:${port}`);
  return (
    hosts.includes(host) &&
    (origin === undefined || hosts.some((each) => origin === `http://${each}`)) &&
    (site === undefined || site === 'same-origin' || site === 'none')
  );
};

/** Error detail for requests that are not accepted. */
export const NOT_ON_PURPOSE =
  'only local requests are allowed: use http://127.0.0.1 or http://localhost, and not a page of another origin';
