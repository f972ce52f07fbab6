/** Bytes as text, where they are text. */

const DECODER = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * What bytes say in UTF-8, with the byte order mark if they begin with one. Undefined where they are no UTF-8: with
 * replacement characters for what is broken it would be another text than was sent.
 */
export const utf8 = (bytes: Uint8Array): string | undefined => {
  try {
    return DECODER.decode(bytes);
  } catch (cause) {
    if (cause instanceof TypeError) return undefined;
    throw cause;
  }
};
