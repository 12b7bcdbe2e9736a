import { ProtocolError } from "mcparley";
import type { OAuth } from "mcparley/auth";
import { openAuthorization } from "../targets/sign-in/session-auth.ts";
import { signInOptions } from "../targets/sign-in/options.ts";
import { networkOptions } from "../targets/options.ts";
import { version } from "../terminal/io.ts";
import type { OptionValues } from "../terminal/options.ts";
import { printJson, printText } from "../terminal/screen.ts";
import { visibleLine } from "../terminal/text.ts";
import { type HttpServer, accountAt, chooseHttpServer } from "./connection/account.ts";
import type { Command, CommandSetting } from "./connection/command.ts";
import { formerYes, targetOptions } from "./connection/options.ts";
import { showConnection } from "./connection/session.ts";

const loginOptions = { ...targetOptions, yes: formerYes, ...networkOptions, ...signInOptions } as const;

export const loginCommand: Command<typeof loginOptions> = {
  kind: "account",
  usage: "TARGET",
  summary: "sign in to a server",
  printsLines: true,
  options: loginOptions,
  details: [
    "Opens a browser, waits until it is redirected to a port of this machine, and sends a request to the server with the new " +
      "tokens. With --no-browser, you visit the address on any machine and paste the one at which the browser ends. Without a " +
      "terminal, it shows the address and waits, up to --timeout (10m). If you are signed in, you sign in again.",
    'With --json, the first line is {"url": "..."} and the last one is the account or the error. The secret of a client is ' +
      "read from the environment, because other programs can see the words of a command.",
  ],
  examples: [
    "mcparley login https://example.com/mcp",
    'mcparley login notes --scope "notes:read notes:write"',
    "mcparley login notes --client-id ID --client-secret-env SECRET",
  ],
  async run(words, setting) {
    const { screen, stop } = setting;
    const { json, timeout: limit, newClient } = setting.options;
    const httpServer = await chooseHttpServer({ name: "login" }, words, setting);
    const { server } = httpServer;
    stop.limit(limit);
    const authorization = await openAuthorization({ ...setting, ...httpServer, isAskedFor: true });
    await authorization.oauth.signIn(server, { signal: stop.signal, newClient });
    await authorization.rememberClient();
    await sendAuthorized(authorization.oauth, httpServer, setting);
    const account = await accountAt(server, authorization);
    const subject = account.subject === undefined ? "" : ` as ${account.subject}`;
    if (json) await printJson(account, { screen }, "line");
    else await printText(visibleLine(`Signed in to ${account.server}${subject}, at ${account.issuer}.`), { screen });
  },
};

/** Connects with the new tokens, so that a server that refuses them is noticed now. Rejects with its reason. */
async function sendAuthorized(
  auth: OAuth,
  { server: url, headers, connection }: HttpServer,
  { io, stop, screen, options: { verbose: isVerbose } }: CommandSetting<OptionValues<typeof loginOptions>>,
): Promise<void> {
  try {
    const info = { name: "mcparley", version };
    const target = { url, headers, ...(connection && { connection }) };
    const client = await io.connect(target, { auth, info, signal: stop.signal });
    if (isVerbose) showConnection(client, screen);
    await client.close();
  } catch (error) {
    // A server that answers with an error of the protocol has accepted the token.
    if (!(error instanceof ProtocolError)) throw error;
  }
}
