import type { HostEvent, ServerEntry } from "@mcparley/host";
import { type SignIn, pastedSignIn } from "mcparley/auth";
import { loopbackSignIn } from "mcparley/node";
import { withOptionNames } from "../../targets/option-names.ts";
import { askToSignIn, describePurpose } from "../../targets/sign-in/ask-to-sign-in.ts";
import { renewalRefusal } from "../../targets/sign-in/refused-access.ts";
import type { RunDialog } from "../../terminal/questions/choose.ts";
import { visibleLine } from "../../terminal/text.ts";
import type { ChatServer } from "./chat-servers.ts";

interface SignInSetting {
  readonly talk: RunDialog;
  readonly openUrl: (url: string) => Promise<void>;
  /** Whether the address is shown, and not opened in a browser of this machine. */
  readonly noBrowser: boolean;
  /** Returns the reason for which the stored tokens for the URL of a server could not be renewed. */
  readonly reasonOf: (url: string) => string | undefined;
  /** Shows a line above the input. */
  readonly note: (text: string) => void;
}

/** Collects the reasons for which stored tokens could not be renewed, from the events of a host. */
export function renewalRefusals(servers: readonly ChatServer[]): {
  listen(this: void, event: HostEvent): void;
  reasonOf(this: void, url: string): string | undefined;
} {
  const reasons = new Map<string, string>();
  return {
    listen(event) {
      const reason = event.type === "sign-in" ? renewalRefusal(event.step) : undefined;
      if (event.type === "sign-in" && reason !== undefined) reasons.set(event.server, withOptionNames(reason));
    },
    reasonOf: (url) => reasons.get(servers.find(({ entry }) => urlOf(entry) === url)?.name ?? ""),
  };
}

/** Returns the URL of an entry as a sign-in names it. Undefined for a program. */
export function urlOf(entry: ServerEntry): string | undefined {
  const target = typeof entry === "object" && "target" in entry ? entry.target : entry;
  const url = typeof target === "object" && "url" in target ? String(target.url) : undefined;
  return url !== undefined && URL.canParse(url) ? new URL(url).href : undefined;
}

/** Returns the sign-in of a chat: in the browser of this machine, or with an address that the user copies. */
export function chatSignIn({ talk, note, noBrowser, openUrl, reasonOf }: SignInSetting): SignIn {
  if (noBrowser) {
    const signIn = pastedSignIn({
      print: note,
      read: (question, signal) => talk(signal, (prompter) => prompter.ask(question)),
    });
    return {
      prepare(previous, purpose) {
        if (purpose) for (const line of describePurpose(purpose)) note(line);
        const reason = purpose && reasonOf(purpose.server);
        if (reason !== undefined) note(visibleLine(`Reason: ${reason}`));
        return signIn.prepare(previous, purpose);
      },
    };
  }
  return {
    prepare: (previous, purpose) =>
      loopbackSignIn({
        open: async (url) => {
          const page = { url, purpose, openUrl, reason: purpose && reasonOf(purpose.server) };
          await talk(new AbortController().signal, (prompter, view) => askToSignIn(page, { prompter, view }));
          note("Waiting for the sign-in in the browser. Press Ctrl-C to stop.");
        },
      }).prepare(previous),
  };
}
