import { isTyped, lastText, type OptionValues, type Options } from "../../terminal/options.ts";

/** The option of each command that stores credentials. */
export const keychain = {
  name: "keychain",
  topic: "signing-in",
  description: "store the key of the credentials in the system's keychain from now on",
  read: isTyped,
} as const;

/** The options of the commands that can sign in, without `--new-client`. */
export const signInOptions = {
  noBrowser: {
    name: "no-browser",
    topic: "signing-in",
    description: "show the address of the sign-in, and ask for the address at which the browser ends",
    read: isTyped,
  },
  scope: {
    name: "scope",
    value: '"SCOPE ..."',
    topic: "signing-in",
    description: "request these scopes instead of those that the server names",
    read: lastText,
  },
  noOffline: {
    name: "no-offline",
    topic: "signing-in",
    description: "request no offline_access",
    read: isTyped,
  },
  clientId: {
    name: "client-id",
    value: "ID",
    topic: "signing-in",
    description: "sign in as this registered client",
    read: lastText,
  },
  clientSecretEnv: {
    name: "client-secret-env",
    value: "NAME",
    topic: "signing-in",
    description: "the environment variable that holds the secret of this client",
    read: lastText,
  },
  redirectUri: {
    name: "redirect-uri",
    value: "URL",
    topic: "signing-in",
    description: "the redirect URI of this client, such as http://127.0.0.1:PORT/callback",
    read: lastText,
  },
  issuer: {
    name: "issuer",
    value: "URL",
    topic: "signing-in",
    description: "the authorization server, if the MCP server names several",
    read: lastText,
  },
  dpop: {
    name: "dpop",
    topic: "signing-in",
    description: "bind tokens to a key of this machine (DPoP) until logout",
    read: isTyped,
  },
  resource: {
    name: "resource",
    value: "URL",
    topic: "signing-in",
    description: "accept this resource identifier, if it is shorter than the server's URL",
    read: lastText,
  },
  keychain,
} as const satisfies Options;

/** The options of a sign-in. A command without one of them has its default. */
export type SignInOptions = Partial<OptionValues<typeof signInOptions>> & { readonly newClient?: boolean };
