import { type Key, createInterface, emitKeypressEvents } from "node:readline";
import { PassThrough, type Readable } from "node:stream";

/** A key that was pressed, or a text that was pasted. */
export type KeyEvent =
  | {
      readonly type: "key";
      /** The name of the key, such as `up`, `return` or `a`. Empty for a character without a name. */
      readonly name: string;
      /** The typed characters. Empty for a key without a character. */
      readonly text: string;
      readonly ctrl: boolean;
      readonly meta: boolean;
      readonly key: Key;
    }
  | { readonly type: "paste"; readonly text: string };

/** Whether a key is Ctrl-C, which is a key like any other in raw mode. */
export function isInterrupt(event: KeyEvent): boolean {
  return event.type === "key" && event.ctrl && event.name === "c";
}

/** The sequences that make a terminal mark the start and the end of a paste. */
export const pasteModeOn = "\u001b[?2004h";
export const pasteModeOff = "\u001b[?2004l";

/** A chunk of input with text on two lines. Nobody types this fast, so it was pasted. */
const severalLines = /[^\r\n][\r\n]+[^\r\n]/;

/** Milliseconds after which Escape is a key of its own, and not the start of a sequence. */
const escapeTime = 50;

/**
 * Calls the listener with each key and each paste of a terminal in raw mode. Returns a function that ends it.
 *
 * A paste is recognized by the markers of the terminal (bracketed paste mode). Terminals without them send the text as keys. A chunk of
 * several lines is then one paste, so that the line breaks in it do not submit.
 */
export function readKeys(input: Readable, onKey: (event: KeyEvent) => void): () => void {
  let pasteText: string | undefined;
  let isMarked = false;
  let isAlone = true;
  const endPaste = (): void => {
    const text = pasteText ?? "";
    pasteText = undefined;
    isMarked = false;
    if (text !== "") onKey({ type: "paste", text: text.replaceAll(/\r\n?/g, "\n") });
  };
  const beforeKeys = (chunk: Buffer | string): void => {
    const text = String(chunk);
    isAlone = text.length === 1;
    if (!isMarked && !text.includes("\u001b[200~") && severalLines.test(text)) pasteText = "";
  };
  const afterKeys = (): void => {
    if (pasteText !== undefined && !isMarked) endPaste();
  };
  const onKeypress = (text: string | undefined, key: Key): void => {
    // A Ctrl-C between other characters belongs to the pasted text. It must not end the paste, whose next line would be sent.
    const isInterrupt = key.ctrl === true && key.name === "c" && (pasteText === undefined || isAlone);
    if (key.name === "paste-start") {
      pasteText = "";
      isMarked = true;
    } else if (key.name === "paste-end") {
      endPaste();
    } else if (pasteText !== undefined && !isInterrupt) {
      const part = text ?? key.sequence ?? "";
      if (isPrintable(part) || /^[\r\n\t]$/.test(part)) pasteText += part;
    } else {
      // The end marker of a paste can be lost, and Ctrl-C must always work.
      if (isInterrupt) pasteText = undefined;
      onKey(toEvent(text, key));
    }
  };
  input.prependListener("data", beforeKeys);
  const timing = createInterface({ input: new PassThrough(), escapeCodeTimeout: escapeTime });
  emitKeypressEvents(input, timing);
  input.on("keypress", onKeypress);
  input.on("data", afterKeys);
  return () => {
    timing.close();
    input.off("data", beforeKeys);
    input.off("keypress", onKeypress);
    input.off("data", afterKeys);
  };
}

function toEvent(text: string | undefined, key: Key): KeyEvent {
  const isTyped = text !== undefined && isPrintable(text) && !key.ctrl && !key.meta;
  return {
    type: "key",
    name: key.name ?? "",
    text: isTyped ? text : "",
    ctrl: key.ctrl === true,
    // Node marks Escape itself as pressed with Alt.
    meta: key.meta === true && key.name !== "escape",
    key,
  };
}

function isPrintable(text: string): boolean {
  return text !== "" && !/\p{Cc}/u.test(text);
}
