// @ts-check
import { PseudoTerminal } from "../support/pseudo-terminal.mjs";
import { drawTerminal, widthFor } from "./draw.mjs";
import { screenRuns } from "./screen-runs.mjs";

/** @import { Key } from "../support/keys.mjs" */
/** @import { PseudoTerminalOptions, Wanted } from "../support/pseudo-terminal.mjs" */

/**
 * A step of a session: wait for a text, a pattern or a condition; type text; press a key; or paste text.
 *
 * @typedef {{ waitFor: Wanted } | { type: string } | { key: Key } | { paste: string }} Step
 */

/**
 * Runs a program in a pseudo-terminal, takes the steps one after the other, and returns the picture of the last screen.
 *
 * `replace` contains texts to show in place of others of the same length, such as a fixed port.
 *
 * @param {PseudoTerminalOptions} program
 * @param {{ label: string, steps: readonly Step[], replace?: ReadonlyMap<string, string> }} session
 */
export async function drawSession(program, { label, steps, replace = new Map() }) {
  const terminal = new PseudoTerminal(program);
  try {
    for (const step of steps) await take(step, terminal);
    const lines = screenRuns(terminal.emulator).map((runs) =>
      runs.map((run) => ({ ...run, text: replaced(run.text, replace) })),
    );
    return drawTerminal(lines, { label, width: widthFor(terminal.emulator.cols) });
  } finally {
    await terminal.close();
  }
}

/** @param {Step} step @param {PseudoTerminal} terminal */
async function take(step, terminal) {
  // The cursor is hidden while a question takes no keys.
  await terminal.waitFor("waitFor" in step ? step.waitFor : () => terminal.isCursorVisible());
  if ("type" in step) await terminal.type(step.type);
  else if ("key" in step) terminal.key(step.key);
  else if ("paste" in step) terminal.paste(step.paste);
}

/** @param {string} text @param {ReadonlyMap<string, string>} replace */
function replaced(text, replace) {
  return [...replace].reduce((result, [from, to]) => result.replaceAll(from, to), text);
}
