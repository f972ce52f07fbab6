/**
 * Who may use what listens here: those who are on this machine on purpose.
 *
 * A page from elsewhere can send requests to this machine (cross-site), and a name that resolves to 127.0.0.1 can make
 * them look same-site (DNS rebinding). So the Host must be ours, and so must the Origin where there is one. A page's
 * `<img>` or `<script>` names no Origin: there the browser says itself that it is for another site.
 */
import type { IncomingHttpHeaders } from 'node:http';

type Headers = Pick<IncomingHttpHeaders, 'host' | 'origin' | 'sec-fetch-site'>;

/** @param port where it listens. */
export const isOnPurpose = ({ host = '', origin, 'sec-fetch-site': site }: Headers, port: number): boolean => {
  const hosts = ['127.0.0.1', 'localhost', '[::1]'].map((name) => `${name}:${port}`);
  return (
    hosts.includes(host) &&
    (origin === undefined || hosts.some((each) => origin === `http://${each}`)) &&
    (site === undefined || site === 'same-origin' || site === 'none')
  );
};

/** What others get to hear. */
export const NOT_ON_PURPOSE =
  'only callers on this machine are answered: use http://127.0.0.1 or http://localhost, and no page of another origin';
