import { type OptionValues, flag, options, text } from "../../terminal/options.ts";

/** The options of the commands that can sign in. */
export const signInOptions = options(
  {
    noBrowser: flag("show the address of the sign-in, and ask for the address at which the browser ends"),
    scope: text('"SCOPE ..."', "request these scopes instead of those that the server names"),
    noOffline: flag("request no offline_access"),
    newClient: flag("register another client"),
    clientId: text("ID", "sign in as this registered client"),
    clientSecretEnv: text("NAME", "the environment variable that holds the secret of this client"),
    redirectUri: text(
      "URL",
      "the redirect URI of this client: http://127.0.0.1, [::1] or localhost, with any path, with or without a port",
    ),
    issuer: text("URL", "the authorization server, if the MCP server names several"),
    dpop: flag("bind tokens to a key of this machine (DPoP) until logout"),
    resource: text("URL", "accept this resource identifier, if it is shorter than the server's URL"),
    keychain: flag("store the key of the credentials in the system's keychain from now on"),
  },
  "signing-in",
);

/** The options of a sign-in. A command without one of them has its default. */
export type SignInOptions = Partial<OptionValues<typeof signInOptions>>;
