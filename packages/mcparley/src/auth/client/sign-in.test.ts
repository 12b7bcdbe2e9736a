import { expect, test } from "vitest";
import { type PastedSignInOptions, pastedSignIn } from "./sign-in.ts";

const never = new AbortController().signal;
const authorizationUrl = new URL("https://issuer.example/authorize?state=s1&client_id=c");
const redirectUri = "http://127.0.0.1:50000/callback";

async function visit(
  answers: string[],
  options: Partial<PastedSignInOptions> = {},
): Promise<{ redirect: URL | Error; lines: string[] }> {
  const lines: string[] = [];
  const read = async (): Promise<string> => answers.shift() ?? Promise.reject(new Error("no more input"));
  const attempt = await pastedSignIn({ print: (line) => lines.push(line), read, redirectUri, ...options }).prepare(
    undefined,
  );
  const redirect = await attempt.visit(authorizationUrl, never).catch((error: Error) => error);
  await attempt.close();
  return { redirect, lines };
}

test("the URL is printed, and the pasted URL is returned as the redirect", async () => {
  const { redirect, lines } = await visit([`  ${redirectUri}?code=c&state=s1&iss=i \n`]);
  expect(String(redirect)).toBe(`${redirectUri}?code=c&state=s1&iss=i`);
  expect(lines).toContain(authorizationUrl.href);
});

test("a pasted code is returned with the state of this sign-in", async () => {
  const { redirect } = await visit(["4/0AbC-d_e.f~g"]);
  expect([...(redirect as URL).searchParams]).toEqual([
    ["code", "4/0AbC-d_e.f~g"],
    ["state", "s1"],
  ]);
});

test.each([
  ["an empty line", ""],
  ["a word", "yes"],
  ["a sentence", "what is this?"],
  ["the URL of another host", "https://issuer.example/callback?code=c&state=s1"],
  ["another port", "http://127.0.0.1:50001/callback?code=c&state=s1"],
  ["another path", "http://127.0.0.1:50000/other?code=c&state=s1"],
  ["another state", `${redirectUri}?code=secret-code&state=s2`],
  ["no state", `${redirectUri}?code=secret-code`],
  ["two states", `${redirectUri}?code=secret-code&state=s1&state=s2`],
])("after %s the prompt is repeated without the pasted text", async (_what, pasted) => {
  const right = `${redirectUri}?code=right&state=s1`;
  const { redirect, lines } = await visit([pasted, pasted, right]);
  expect(String(redirect)).toBe(right);
  expect(lines.join("\n")).not.toContain("secret-code");
  const failed = await visit([pasted, pasted, pasted, right]);
  expect(failed.redirect).toMatchObject({ code: "sign_in_failed" });
});

test("an aborted sign-in reads no more lines", async () => {
  const controller = new AbortController();
  let asked = 0;
  const read = async (): Promise<string> => {
    asked++;
    controller.abort(new Error("given up"));
    return "";
  };
  const attempt = await pastedSignIn({ print: () => {}, read }).prepare(undefined);
  await expect(attempt.visit(authorizationUrl, controller.signal)).rejects.toThrow("given up");
  expect(asked).toBe(1);
});

test("the redirect URI of the earlier registration is used again if it is a loopback callback", async () => {
  const prepare = async (previous?: string): Promise<string> =>
    (await pastedSignIn({ print: () => {}, read: async () => "" }).prepare(previous)).redirectUri;
  expect(await prepare(redirectUri)).toBe(redirectUri);
  expect(await prepare("https://example.com/callback")).toMatch(
    /^http:\/\/127\.0\.0\.1:(49|5\d|6[0-5])\d{3}\/callback$/,
  );
});
