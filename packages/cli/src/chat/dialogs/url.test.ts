import type { UrlRequest } from "@mcparley/host";
import { expect, test } from "vitest";
import { hostile, scriptedDialogs, signal } from "../../terminal/testing/scripted-prompter.ts";

function request(changes: Partial<UrlRequest> = {}): UrlRequest {
  return {
    origin: { server: "wiki", claims: { name: "Wiki", version: "2.0.1" }, during: 'tools/call "find_page"' },
    message: "Sign in to read this page.",
    url: "https://sign.example/in?a=1&b=2",
    host: "sign.example",
    remarks: ['The host differs from the host of the server, "wiki.example.com".'],
    ...changes,
  };
}

test("shows who asks, the URL and its host, and opens it after a yes", async () => {
  const { renderer, screen, openedUrls } = scriptedDialogs(["yes"]);
  expect(await renderer.url(request(), signal)).toEqual({ action: "accept" });
  expect(openedUrls).toEqual(["https://sign.example/in?a=1&b=2"]);
  expect(screen()).toMatchInlineSnapshot(`
    "
    The server "wiki" asks you to open a page in your browser (during tools/call
      "find_page").
    It calls itself "Wiki", version "2.0.1". This is not verified.
      │ Sign in to read this page.

      https://sign.example/in?a=1&b=2

    Its host is sign.example.
    ! The host differs from the host of the server, "wiki.example.com".
    Open it? [y]es, [m]anually, [n]o (decline) or [c]ancel? yes
    "
  `);
});

test.each([
  ["m", "accept"],
  ["n", "decline"],
  ["cancel", "cancel"],
])("%s opens nothing", async (typed, action) => {
  const { renderer, openedUrls } = scriptedDialogs([typed]);
  expect(await renderer.url(request(), signal)).toEqual({ action });
  expect(openedUrls).toEqual([]);
});

test("states that no browser could be started", async () => {
  const openUrl = (): Promise<void> => Promise.reject(new Error("no \u001bdisplay"));
  const { renderer, screen } = scriptedDialogs(["y"], { openUrl });
  expect(await renderer.url(request(), signal)).toEqual({ action: "accept" });
  expect(screen()).toContain("No browser could be started (no \\x1bdisplay). Open the URL yourself.\n");
});

test("the remark on a host name is shown once", async () => {
  const remark = 'The host has letters that can look like other letters. It is displayed as "p\u0430ypal.com".';
  const { renderer, screen } = scriptedDialogs(["n"]);
  await renderer.url(
    request({ url: "https://xn--pypal-4ve.com/", host: "xn--pypal-4ve.com", remarks: [remark] }),
    signal,
  );
  expect(screen().match(/look like/g)).toHaveLength(1);
});

test("texts of a server cannot look like lines of the chat", async () => {
  const { renderer, screen } = scriptedDialogs(["n"]);
  await renderer.url(request({ message: hostile, remarks: [hostile] }), signal);
  expect(screen()).not.toMatch(/[^ -~\n│]/);
  expect(screen()).not.toMatch(/^(The server "safe"|Call it)/m);
});
