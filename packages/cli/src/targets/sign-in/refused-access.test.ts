import { LocalError } from "mcparley";
import { describe, expect, test } from "vitest";
import type { CommandIo } from "../../terminal/io.ts";
import { withTarget } from "../known-target.ts";
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

test("names the scopes that were requested and not granted", async () => {
  const challenge = 'Bearer error="insufficient_scope", scope="notes:write notes:sign"';
  const data = { status: 403, challenge, body: "" };
  const connect: CommandIo["connect"] = () => Promise.reject(new LocalError("unauthorized", "Denied (403).", { data }));
  const { code, io } = await runWith({ connect }, ["list", url]);
  expect(code).toBe(3);
  expect(io.err()).toBe(
    `mcparley: Denied (403).\n  The authorization server did not grant the scopes notes:write notes:sign. Sign in with an account that may have them: mcparley login ${url}\n`,
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
      `mcparley: ${message}\n  Register a client with the authorization server, and sign in as this client: mcparley login ${url} --client-id ID --client-secret-env NAME\n`,
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
