/** Text as bytes of UTF-8. */

const DECODER = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The text of bytes in UTF-8, with the byte order mark if there is one. Undefined if they are not valid UTF-8. With
 * replacement characters for the invalid bytes, the text would differ from what was sent.
 */
export const utf8 = (bytes: Uint8Array): string | undefined => {
  try {
    return DECODER.decode(bytes);
  } catch (cause) {
    if (cause instanceof TypeError) return undefined;
    throw cause;
  }
};

/** The longest beginning of a text that takes at most this many bytes. Lone surrogates are replaced. */
export const cutToBytes = (text: string, most: number): string =>
  text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(most)).read).toWellFormed();
