import type { SignIn } from "mcparley/auth";
import { askToSignIn, describePurpose } from "../../targets/sign-in/ask-to-sign-in.ts";
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
export async function chatSignIn({ talk, note, noBrowser, openUrl }: SignInSetting): Promise<SignIn> {
  if (noBrowser) {
    const { pastedSignIn } = await import("mcparley/auth");
    const pasted = pastedSignIn({
      print: note,
      read: (question, signal) => talk(signal, (prompter) => prompter.ask(question)),
    });
    return {
      prepare(previous, purpose) {
        if (purpose) for (const line of describePurpose(purpose)) note(line);
        return pasted.prepare(previous, purpose);
      },
    };
  }
  const { loopbackSignIn } = await import("mcparley/node");
  return {
    prepare: (previous, purpose) =>
      loopbackSignIn({
        open: async (url) => {
          const page = { url, purpose, openUrl };
          await talk(new AbortController().signal, (prompter, view) => askToSignIn(page, { prompter, view }));
          note("Waiting for the sign-in in the browser. Press Ctrl-C to stop.");
        },
      }).prepare(previous),
  };
}
