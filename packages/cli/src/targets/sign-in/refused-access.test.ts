import { LocalError } from "mcparley";
import { describe, expect, test } from "vitest";
import type { CommandIo } from "../../terminal/io.ts";
import { callCommand } from "../../commands/call.ts";
import { declaredCommands } from "../../commands/all-commands.ts";
import { readWords } from "../../terminal/options.ts";
import { optionsOfTarget, withTarget, withoutUrlSecrets } from "../known-target.ts";
import { runWith } from "../../commands/testing/fake-io.ts";

const url = "https://notes.example/mcp";

function refusing(code: "unauthorized" | "authorization_failed"): CommandIo["connect"] {
  const message = "The server requires authorization (401) for server/discover.";
  return () => Promise.reject(new LocalError(code, message, { data: { status: 401, body: "" } }));
}

describe("a server that refuses access", () => {
  test("names the header that was sent, and does not suggest it again", async () => {
    const connect = refusing("unauthorized");
    const words = ["list", url, "--header", "Authorization: Bearer secret-token"];
    const { code, io } = await runWith({ connect }, words);
    expect(code).toBe(3);
    expect(io.err()).toContain("The server did not accept the header Authorization that you gave.");
    expect(io.err()).toContain(`If the server has a sign-in, you can use it without the header: mcparley login ${url}`);
    expect(io.err()).not.toContain("--header");
    expect(io.err()).not.toContain("secret-token");
  });

  test("names a key in another header also after a sign-in", async () => {
    for (const reason of ["unauthorized", "authorization_failed"] as const) {
      const { io } = await runWith({ connect: refusing(reason) }, ["list", url, "-H", "X-API-Key: secret"]);
      expect(io.err()).toContain("did not accept the header X-API-Key that you gave");
      expect(io.err()).not.toContain("login");
    }
  });

  test("names the scopes that the server requires", async () => {
    const challenge = 'Bearer error="insufficient_scope", scope="notes:write \u001b[2Jadmin"';
    const connect = (): Promise<never> =>
      Promise.reject(new LocalError("unauthorized", "Denied.", { data: { status: 403, challenge, body: "" } }));
    for (const header of [[], ["--header", "Authorization: Bearer secret-token"]]) {
      const { io } = await runWith({ connect }, ["list", url, ...header]);
      expect(io.err()).toContain(
        `${header.length > 0 ? "The request needs" : "did not grant"} the scopes notes:write `,
      );
      expect(io.err()).not.toContain("\u001b[2J");
    }
    const other = await runWith({ connect: refusing("unauthorized") }, ["list", url]);
    expect(other.io.err()).not.toContain("the scopes");
  });

  test("suggests a sign-in or a token if no header was sent", async () => {
    const { io } = await runWith({ connect: refusing("unauthorized") }, ["list", url]);
    expect(io.err()).toContain(
      `Sign in: mcparley login ${url}. Or send the token: --header "Authorization: Bearer TOKEN"`,
    );
    const failed = await runWith({ connect: refusing("authorization_failed") }, ["list", url]);
    expect(failed.io.err()).toContain("in place of the sign-in");
  });
});

test("a server that refuses the token of the sign-in is not asked for a sign-in alone", async () => {
  const data = {
    status: 401,
    challenge: 'Bearer error="invalid_token", error_description="Other audience."',
    body: "",
  };
  const connect: CommandIo["connect"] = () =>
    Promise.reject(new LocalError("unauthorized", "Refused (401).", { data }));
  const { io } = await runWith({ connect }, ["list", url]);
  expect(io.err()).toBe(
    `mcparley: Refused (401).\n  The server refused the token of your sign-in. Its operator can check which issuers and audiences it accepts. To get a new token, sign in again: mcparley login ${url}\n  More: mcparley help unauthorized\n`,
  );
});

test("names the scopes that were requested and not granted", async () => {
  const challenge = 'Bearer error="insufficient_scope", scope="notes:write notes:sign"';
  const data = { status: 403, challenge, body: "" };
  const connect: CommandIo["connect"] = () => Promise.reject(new LocalError("unauthorized", "Denied (403).", { data }));
  const { code, io } = await runWith({ connect }, ["list", url]);
  expect(code).toBe(3);
  expect(io.err()).toBe(
    `mcparley: Denied (403).\n  The authorization server did not grant the scopes notes:write notes:sign. Sign in with an account that may have them: mcparley login ${url}\n  More: mcparley help unauthorized\n`,
  );
});

test.each(["invalid_client", "unauthorized_client", "invalid_client_metadata", "invalid_redirect_uri"])(
  "an authorization server that refuses the client with %s is reported with its reason, and the cure is another client",
  async (error) => {
    const message = `The authorization server "https://as.example" refused to issue tokens: ${error} (Go away).`;
    const connect: CommandIo["connect"] = () =>
      Promise.reject(new LocalError("authorization_failed", message, { data: { error, status: 401 } }));
    const { code, io } = await runWith({ connect }, ["list", url]);
    expect(code).toBe(3);
    expect(io.err()).toBe(
      `mcparley: ${message}\n  Register a client with the authorization server, and sign in as this client: mcparley login ${url} --client-id ID --client-secret-env NAME\n  More: mcparley help authorization_failed\n`,
    );
  },
);

test("an authorization server that refuses a registration for any reason is followed by the same cure", async () => {
  const data = { error: "insufficient_scope", status: 403, request: "registration" };
  const connect: CommandIo["connect"] = () => Promise.reject(new LocalError("authorization_failed", "No.", { data }));
  const { io } = await runWith({ connect }, ["list", url]);
  expect(io.err()).toContain(`mcparley login ${url} --client-id ID`);
  expect(io.err()).not.toContain("--header");
});

describe("a hint names the target", () => {
  const hint = "mcparley list TARGET tools shows them.";
  const known = (word: string | undefined, command?: string[]) => ({ word, command, headerNames: [] });

  test.each([
    [known("handbook"), "mcparley list handbook tools shows them."],
    [known("https://a.example/mcp"), "mcparley list https://a.example/mcp tools shows them."],
    [known(undefined, ["./server"]), "mcparley list tools -- ./server shows them."],
    [known(undefined, ["node", "server.js", "--key", "secret"]), "mcparley list tools -- node ... shows them."],
    [known("https://a.example/mcp?key=secret"), hint],
    [known("https://user:secret@a.example/mcp"), hint],
    [undefined, hint],
  ])("%j", (target, expected) => {
    expect(withTarget(hint, target)).toBe(expected);
  });

  test("in the errors of a command", async () => {
    const { io } = await runWith({}, ["call", "https://a.example/mcp"]);
    expect(io.err()).toContain("Which tool? TOOL is missing.\n  mcparley list https://a.example/mcp tools shows them.");
  });
});

describe("a hint repeats the options of the command line", () => {
  const options: Record<string, string[]> = {
    "--config": ["my servers.json"],
    "--trust": [],
    "--revision": ["2025-11-25"],
    "--env-all": [],
    "--proxy": ["http://proxy.example:8080"],
    "--key-passphrase-env": ["PASSPHRASE"],
    "--no-browser": [],
    "--scope": ["notes:read notes:write"],
    "--no-offline": [],
    "--client-id": ["mcp-command"],
    "--client-secret-env": ["SECRET"],
    "--redirect-uri": ["http://127.0.0.1:9999/callback"],
    "--issuer": ["https://as.example"],
    "--dpop": [],
    "--resource": ["https://a.example"],
    "--keychain": [],
  };

  /** Returns the hint after `mcparley call URL TOOL` with options. */
  function hintWith(hint: string, words: Record<string, string[]>): string {
    const line = [
      "https://a.example/mcp",
      "whoami",
      ...Object.entries(words).flatMap(([name, value]) => [name, ...value]),
    ];
    const target = {
      word: line[0],
      command: undefined,
      headerNames: [],
      options: optionsOfTarget(readWords(line, callCommand.options), callCommand.options, declaredCommands),
    };
    return withTarget(hint, target);
  }

  test.each(Object.entries(options))("%s", (name, value) => {
    const written = [name, ...value.map((word) => (word.includes(" ") ? `'${word}'` : word))].join(" ");
    const isOfLogin = !/^--(?:revision|env-all)$/.test(name);
    expect(hintWith("Sign in: mcparley login TARGET. Or not.", { [name]: value })).toBe(
      `Sign in: mcparley login https://a.example/mcp${isOfLogin ? ` ${written}` : ""}. Or not.`,
    );
    expect(hintWith("mcparley list TARGET tools shows them.", { [name]: value })).toBe(
      `mcparley list https://a.example/mcp tools ${written} shows them.`,
    );
  });

  test("and no option without a relation to the server or the sign-in", () => {
    const others = {
      "--json": [],
      "--timeout": ["5"],
      "--header": ["X-Key: secret"],
      "--env": ["KEY=secret"],
    };
    expect(hintWith("mcparley login TARGET", others)).toBe("mcparley login https://a.example/mcp");
  });

  test("and --trust in place of --yes", async () => {
    const { io } = await runWith({ connect: refusing("unauthorized") }, ["list", url, "-y"]);
    expect(io.err()).toContain(`Sign in: mcparley login ${url} --trust.`);
  });

  test("and no URL with a secret", () => {
    const secrets = {
      "--proxy": ["http://user:secret@proxy.example"],
      "--redirect-uri": ["http://127.0.0.1/callback?key=secret"],
      "--resource": ["https://a.example/?key=secret"],
    };
    expect(hintWith("mcparley login TARGET", secrets)).toBe("mcparley login https://a.example/mcp");
  });

  test("and none that the hint replaces", () => {
    expect(hintWith("mcparley login TARGET --scope 'a b'", { "--scope": ["a"], "--dpop": [] })).toBe(
      "mcparley login https://a.example/mcp --dpop --scope 'a b'",
    );
    const client = { "--client-id": ["a"], "--client-secret-env": ["S"], "--redirect-uri": ["http://127.0.0.1/"] };
    expect(hintWith("mcparley login TARGET --new-client", client)).toBe(
      "mcparley login https://a.example/mcp --new-client",
    );
    expect(hintWith("mcparley login TARGET --client-id ID --client-secret-env NAME", client)).toBe(
      "mcparley login https://a.example/mcp --redirect-uri http://127.0.0.1/ --client-id ID --client-secret-env NAME",
    );
  });
});

test.each([
  ["GET https://a.example/mcp?a=1&key=s%2Bcret-value: 401", "GET https://a.example/mcp?a=***&key=***: 401"],
  [
    "resource=https%3A%2F%2Fa.example%2Fmcp%3Fa%3D1%26key%3Ds%252Bcret-value",
    "resource=https%3A%2F%2Fa.example%2Fmcp%3Fa%3D***%26key%3D***",
  ],
  ['The key "s+cret-value" is not valid. (1)', 'The key "***" is not valid. (1)'],
])("the values of a URL's query are hidden in %s", (text, shown) => {
  expect(withoutUrlSecrets(text, "https://a.example/mcp?a=1&key=s%2Bcret-value&empty=&flag#part")).toBe(shown);
  expect(withoutUrlSecrets(text, "https://a.example/mcp")).toBe(text);
  expect(withoutUrlSecrets(text, undefined)).toBe(text);
});

test("the value of a URL's query is hidden in an error of a named server, its causes and its hint", async () => {
  const connect = (target: unknown): Promise<never> => {
    const { url } = target as { url: string };
    const cause = new LocalError("unreachable", `No route to ${url}.`);
    return Promise.reject(new LocalError("unreachable", `${url} is unavailable.`, { cause }));
  };
  for (const options of [[], ["-v"], ["--json"]]) {
    const { io } = await runWith({ connect }, ["list", "https://a.example/mcp?tenant=secret-4711", ...options]);
    const output = io.out() + io.err();
    expect(output).toContain("https://a.example/mcp?tenant=*** is unavailable");
    expect(output).not.toContain("secret-4711");
  }
});

test.each<[data: object, hint: string | undefined]>([
  [{ error: "access_denied", description: "Realm not enabled" }, undefined],
  [{ error: "invalid_request", description: "Invalid scopes: no:such" }, "Sign in with other scopes: mcparley login"],
  [{ error: "invalid_scope" }, "Sign in with other scopes: mcparley login"],
  [{ error: "invalid_grant" }, "Sign in again: mcparley login"],
  [{ error: "unauthorized_client" }, "Register a client"],
  [{ error: "server_error" }, undefined],
])("the refusal %j of an authorization server has the hint %j, and none to send a token", async (data, hint) => {
  const connect = (): Promise<never> => Promise.reject(new LocalError("authorization_failed", "Refused.", { data }));
  const { code, io } = await runWith({ connect }, ["list", url, "--json"]);
  expect(code).toBe(3);
  const shown = (JSON.parse(io.out()) as { error: { hint?: string } }).error.hint;
  if (hint === undefined) expect(shown).toBeUndefined();
  else expect(shown).toContain(hint);
  expect(String(shown)).not.toContain("token or a key");
});

test("a refused --issuer has a hint to check it", async () => {
  const connect = (): Promise<never> => Promise.reject(new LocalError("authorization_failed", "It has no metadata."));
  const { io } = await runWith({ connect }, ["list", url, "--issuer", "https://as.example"]);
  expect(io.err()).toContain("Check the value of --issuer");
  expect(io.err()).not.toContain("token or a key");
});

test("a part of the path that looks like a secret is not repeated", () => {
  const url = "https://a.example/s/f3a9c1d27b604e8d9a51/mcp?key=1";
  const text = "Cannot reach https://a.example/s/f3a9c1d27b604e8d9a51/mcp: f3a9c1d27b604e8d9a51 is gone.";
  expect(withoutUrlSecrets(text, url)).toBe("Cannot reach https://a.example/s/***/mcp: *** is gone.");
});
