import { type SignIn, pastedSignIn } from "mcparley/auth";
import { loopbackSignIn } from "mcparley/node";
import { askToSignIn, describePurpose } from "../../targets/sign-in/ask-to-sign-in.ts";
import type { RunDialog } from "../../terminal/questions/choose.ts";

interface SignInSetting {
  readonly talk: RunDialog;
  readonly openUrl: (url: string) => Promise<void>;
  /** Whether the address is shown, and not opened in a browser of this machine. */
  readonly noBrowser: boolean;
  /** Shows a line above the input. */
  readonly note: (text: string) => void;
}

/** Returns the sign-in of a chat: in the browser of this machine, or with an address that the user copies. */
export function chatSignIn({ talk, note, noBrowser, openUrl }: SignInSetting): SignIn {
  if (noBrowser) {
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
