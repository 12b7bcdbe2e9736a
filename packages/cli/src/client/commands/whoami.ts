import { printJson, printText } from "../print-result.ts";
import type { AccountCommand } from "../session.ts";
import { accountAt, showAccount } from "../sign-in/account.ts";
import { openAuthorization, serverUrl } from "../sign-in/authorization.ts";
import { requireNoMore } from "./words.ts";

export const whoamiCommand: AccountCommand = {
  usage: "TARGET",
  summary: "show as whom you are signed in to a server",
  details: [
    "Nothing is asked of the server: this is what was given when you signed in. Tokens are never shown. Exits with 3 where " +
      "you are not signed in.",
  ],
  examples: ["mcparley whoami https://example.com/mcp", "mcparley whoami https://example.com/mcp --json"],
  async run(words, setting) {
    requireNoMore(words, "whoami takes a TARGET");
    const server = serverUrl(setting.target, "whoami");
    const account = await accountAt(server, await openAuthorization({ ...setting, server, isAskedFor: true }));
    const { screen, options } = setting;
    if (options.json) await printJson(account, { screen });
    else await printText(showAccount(account, screen.out), { screen });
  },
};
