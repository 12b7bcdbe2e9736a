// @ts-check

/**
 * A function of the packages that reads a text of a peer.
 *
 * @typedef {object} Reader
 * @property {string} name
 * @property {() => Promise<(text: string) => unknown>} load Imports the function, so that a process loads only what it measures.
 * @property {readonly { head?: string, tail?: string }[]} [around] What stands before and after a hostile text, so that it passes the
 *   first checks of the reader. Default: nothing.
 * @property {number} [maxBytes] The maximum bytes of a text that reaches the function, because of a limit before it. Default: no limit.
 */

/** Bytes of one chunk of a pipe or a socket. Other work of the process is done between two chunks. */
export const chunk = { maxBytes: 65_536 };

/** Reads a text with a function that throws for invalid texts. @param {(text: string) => unknown} read */
export function tolerant(read) {
  return (/** @type {string} */ text) => {
    try {
      return read(text);
    } catch (error) {
      return error;
    }
  };
}

/** Reads a text if it has no line ending. @param {(text: string) => unknown} read */
export function oneLine(read) {
  return (/** @type {string} */ text) => (/[\r\n]/.test(text) ? undefined : read(text));
}
