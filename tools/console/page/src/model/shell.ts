/** Words of a command that somebody copies. Pure. */

/** What no shell takes for anything else. */
const PLAIN = /^[\w@%+=:,./…-]+$/;

/** As a POSIX shell reads it back: an address that somebody was sent may name anything. */
export const shellWord = (text: string): string => (PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
