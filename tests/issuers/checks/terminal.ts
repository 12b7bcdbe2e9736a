import assert from "node:assert/strict";
import path from "node:path";
import { PseudoTerminal } from "../../chat/support/pseudo-terminal.mjs";
import { checksOf } from "../check.ts";
import type { World } from "../world.ts";
import { archive } from "./peers.ts";

/** Milliseconds of a wait, which are fewer than those of a check, so that an error shows the screen. */
const timeout = 30_000;

/** The command at a terminal, at each issuer. */
export const terminal = checksOf([
  {
    name: "an interactive chat signs in, and asks for the scopes of a call",
    feature: "the host",
    async run(world) {
      const { url } = await world.serve({ tools: { archive } });
      const { env, browser } = await world.user("alice");
      const name = `local-${new URL(url).port}`;
      const chat = openCommand(world, env, ["chat", url]);
      await submit(chat, ">", `/servers sign-in ${name}`);
      await submit(chat, "[c]ancel?", "y");
      await chat.waitFor("1 of 1 servers connected", { timeout });
      await submit(chat, ">", `/call ${name}__whoami`);
      await chat.waitFor('"subject"', { timeout });
      await submit(chat, ">", `/call ${name}__archive`);
      await chat.waitFor("Missing scopes: notes:write", { timeout });
      await submit(chat, "[c]ancel?", "y");
      await chat.waitFor(/\n *archived/, { timeout });
      assert.equal(browser.opened.length, 2);
    },
  },
]);

/** Starts the command in a pseudo-terminal that is closed at the end of the check. */
function openCommand(
  { root, onEnd }: Pick<World, "root" | "onEnd">,
  env: Readonly<Record<string, string>>,
  words: readonly string[],
): PseudoTerminal {
  const program = path.join(root, "packages/cli/bin/mcparley.cjs");
  const opened = new PseudoTerminal({
    command: [process.execPath, program, ...words],
    env: { PATH: process.env.PATH, TERM: "xterm-256color", LANG: "C.UTF-8", ...env },
    cwd: env.HOME ?? root,
    columns: 90,
    rows: 60,
  });
  onEnd(() => opened.close());
  return opened;
}

/** Waits for an empty question that ends with a prompt, pastes the answer, and presses Enter. */
async function submit(opened: PseudoTerminal, prompt: string, answer: string): Promise<void> {
  await opened.waitForCursor(prompt, { timeout });
  opened.paste(answer);
  await opened.waitFor(() => !opened.cursor().line.trimEnd().endsWith(prompt), { timeout });
  opened.key("enter");
}
