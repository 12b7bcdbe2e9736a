import { LocalError } from "mcparley";
import { expect, test } from "vitest";
import { runWith } from "../commands/testing/fake-io.ts";
import { withOptionNames } from "./option-names.ts";

/** Messages of the library, and their text in this command. */
const messages: readonly (readonly [message: string, shown: string])[] = [
  [
    "It offers no sign-in. Send the token or key in the option `headers`.",
    "It offers no sign-in. Send the token or key with --header.",
  ],
  ["Change the option `issuer` if you trust that issuer.", "Change --issuer if you trust that issuer."],
  [
    "If you trust it with such a token, set the option `acceptResource`.",
    "If you trust it with such a token, accept it with --resource.",
  ],
  [
    'Register a client manually and set client: { id, issuer: "https://as.example/" }. Or set clientMetadataUrl to the URL of a document that describes the client.',
    "Register a client manually, and use it with --client-id.",
  ],
  [
    "Register a client manually, and set the option client.",
    "Register a client manually, and use it with --client-id.",
  ],
  [
    "Register a client manually, and set the option `client`.",
    "Register a client manually, and use it with --client-id.",
  ],
  [
    "Check the id, the secret and the method of the option `client`.",
    "Check the values of --client-id and --client-secret-env.",
  ],
  ["Use its absolute path, or set PATH in env.", "Use its absolute path, or pass another PATH with --env."],
  ["but the option client is registered with", "but the client of --client-id is registered with"],
  ["Refused. Set the option resource to an identifier that this server knows, or to false to send none.", "Refused."],
  ["It is not bound. Set dpop: false to accept it.", "It is not bound. Sign out, and sign in without --dpop."],
  ["The MCP server is not. Set allowPrivateNetwork: true if this is intended.", "The MCP server is not."],
  [
    "No browser. Set the option `open` to show the URL, or use `pastedSignIn`.",
    "No browser. Show the URL with --no-browser.",
  ],
  ["Stopped for 5 minutes. Call `signIn` of the authorization to sign in.", "Stopped for 5 minutes."],
  ['The option revision is "1", which is wrong.', '--revision is "1", which is wrong.'],
];

test.each(messages)("%s", async (message, shown) => {
  expect(withOptionNames(message)).toBe(shown);
  const connect = (): Promise<never> => Promise.reject(new LocalError("authorization_failed", message));
  const { io } = await runWith({ connect }, ["list", "https://a.example/mcp"]);
  expect(io.err()).toContain(`mcparley: ${shown}\n`);
});

test("a cause that --verbose shows names the options of the command", async () => {
  const cause = new LocalError("authorization_failed", "Change the option `issuer`.");
  const connect = (): Promise<never> => Promise.reject(new LocalError("unreachable", "Failed.", { cause }));
  const { io } = await runWith({ connect }, ["list", "https://a.example/mcp", "--verbose"]);
  expect(io.err()).toContain("Change --issuer.");
});
