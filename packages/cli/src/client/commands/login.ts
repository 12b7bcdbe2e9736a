import { printJson, printText } from "../print-result.ts";
import type { AccountCommand } from "../session.ts";
import { accountAt } from "../sign-in/account.ts";
import { openAuthorization, serverUrl } from "../sign-in/authorization.ts";
import { rememberClient } from "../sign-in/remembered-client.ts";
import { visibleLine } from "../terminal-text.ts";
import { requireNoMore } from "./words.ts";

export const loginCommand: AccountCommand = {
  usage: "TARGET",
  summary: "sign in to a server",
  details: [
    "A browser is opened where you sign in and say what mcparley may do for you; it comes back to a port of this " +
      "machine, for which the command waits. With --no-browser you visit the address that is shown, on any machine, and " +
      "paste the one that the browser ends at. Who is signed in already signs in anew, such as to get other scopes.",
    "A client's secret is read from the environment, since other programs can see the words of a command. It is kept " +
      "with the tokens, until logout.",
  ],
  examples: [
    "mcparley login https://example.com/mcp",
    'mcparley login example --scope "notes:read notes:write"',
    "mcparley login example --client-id mine --client-secret-env SECRET",
  ],
  async run(words, setting) {
    requireNoMore(words, "login takes a TARGET");
    const server = serverUrl(setting.target, "login");
    const authorization = await openAuthorization({ ...setting, server, isAskedFor: true });
    const { oauth, storage, client } = authorization;
    await oauth.signIn(server, { signal: setting.stop.signal });
    await rememberClient(storage, server, client);
    const account = await accountAt(server, authorization);
    const { screen, options } = setting;
    const as = account.subject === undefined ? "" : ` as ${account.subject}`;
    if (options.json) await printJson(account, { screen });
    else await printText(visibleLine(`Signed in to ${server}${as}, at ${account.issuer}.`), { screen });
  },
};
