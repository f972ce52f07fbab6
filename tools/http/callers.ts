/**
 * Accepts only requests that a user of this machine sends on purpose.
 *
 * A page of another site can send requests to this machine. If its host name resolves to 127.0.0.1, these requests look
 * same-site (DNS rebinding). Therefore the Host header must be local, and so must the Origin header, if present.
 * Requests of `<img>` and `<script>` have no Origin header; the browser marks these requests with `Sec-Fetch-Site`.
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
