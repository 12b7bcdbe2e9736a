import { Cancelled, Declined } from "mcparley";
import type { SignIn } from "mcparley/auth";
import { askUrl } from "../../client/questions/ask-url.ts";
import type { Prompter } from "../../client/questions/prompter.ts";
import { type View, paragraph } from "../../client/screen.ts";
import { visibleLine } from "../../client/terminal-text.ts";
import type { RunDialog } from "../session/dialog-queue.ts";

interface SignInSetting {
  readonly talk: RunDialog;
  readonly openUrl: (url: string) => Promise<void>;
  /** Whether the address is shown, and not opened in a browser of this machine. */
  readonly noBrowser: boolean;
  /** Shows a line above the input. */
  readonly note: (text: string) => void;
}

/** Returns the sign-in of a chat: in the browser of this machine, or with an address that the user copies. */
export async function chatSignIn(setting: SignInSetting): Promise<SignIn> {
  const { talk, note } = setting;
  if (setting.noBrowser) {
    const { pastedSignIn } = await import("mcparley/auth");
    return pastedSignIn({
      print: note,
      read: (question, signal) => talk(signal, (prompter) => prompter.ask(question)),
    });
  }
  const { loopbackSignIn } = await import("mcparley/node");
  return loopbackSignIn({
    open: async (url) => {
      await talk(new AbortController().signal, (prompter, view) => askToOpen(url, { prompter, view, setting }));
      note("Waiting for the sign-in in the browser. Press Ctrl-C to stop.");
    },
  });
}

interface Asking {
  readonly prompter: Prompter;
  readonly view: View;
  readonly setting: SignInSetting;
}

/** Shows the address of the sign-in, and opens it only if the user agrees. */
async function askToOpen(url: URL, { prompter, view, setting }: Asking): Promise<void> {
  prompter.say(`\n${view.style.bold("The server asks you to sign in:")}`);
  const scopes = url.searchParams.get("scope");
  if (scopes) prompter.say(paragraph(`Scopes: ${visibleLine(scopes)}`, view, "  "));
  const { action } = await askUrl(url.href, setting.openUrl, { prompter, view });
  if (action === "decline") throw new Declined("You declined to sign in.");
  if (action !== "accept") throw new Cancelled("The sign-in was cancelled.");
}
