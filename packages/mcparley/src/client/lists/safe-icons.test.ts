import { expect, test } from "vitest";
import type { JsonObject } from "../../rpc/messages.ts";
import { modernPeer, peerTransports } from "../../testing/peer-transports.ts";
import { infoWithSafeIcons, listedWithSafeIcons } from "./safe-icons.ts";

const withIcons = (...sources: unknown[]): { name: string; version: string; icons: { src: unknown }[] } => ({
  name: "a",
  version: "1",
  icons: sources.map((src) => ({ src })),
});

const onStream = peerTransports(modernPeer());
const overHttp = { ...onStream, kind: "http", target: "https://example.com/mcp" } as const;

/** Returns a listed entry without its unsafe icons, and the reports of these. */
function listed(entry: JsonObject, transports = onStream): { entry: JsonObject; reports: string[] } {
  const reports: string[] = [];
  const core = { transports, report: (error: unknown) => void reports.push(String(error)) };
  return { entry: listedWithSafeIcons(core, "tools/list", entry), reports };
}

test.each([
  "https://example.com/a.png",
  "HTTPS://example.com/a.png",
  "data:image/png;base64,AAAA",
  "http://localhost:3000/a.png",
  "http://127.0.0.1/a.png",
  "http://[::1]:80/a.png",
])("an icon at %s is kept", (src) => {
  const given = withIcons(src);
  expect(listed(given)).toEqual({ entry: given, reports: [] });
});

test.each([
  "javascript:alert(1)",
  " javascript:alert(1)",
  "file:///etc/passwd",
  "ftp://example.com/a.png",
  "ws://example.com/",
  "vscode://settings",
  "http://example.com/a.png",
  "http://localhost.example.com/a.png",
  "http://127.0.0.1.example.com/a.png",
  "http://localhost@example.com/a.png",
  "/a.png",
  "",
  7,
  undefined,
])("an icon at %s is omitted", (src) => {
  const { entry, reports } = listed(withIcons("https://example.com/a.png", src));
  expect(entry).toEqual(withIcons("https://example.com/a.png"));
  expect(reports).toHaveLength(1);
  expect(reports[0]).toContain(`An icon of tools/list was left out`);
  expect(reports[0]).toContain(`: ${JSON.stringify({ src })}`);
});

test("an icon of another origin than the server's is omitted", () => {
  const own = ["https://example.com/a.png", "https://EXAMPLE.com:443/b.png", "data:image/png;base64,AAAA"];
  const others = ["https://example.com:444/a.png", "https://cdn.example.com/a.png", "http://localhost/a.png"];
  const { entry, reports } = listed(withIcons(...own, ...others), overHttp);
  expect(entry).toEqual(withIcons(...own));
  expect(reports).toHaveLength(others.length);
  expect(infoWithSafeIcons(withIcons(...own, ...others) as never, overHttp)).toEqual(withIcons(...own));
});

test("an object without icons is returned unchanged", () => {
  const given = { name: "a" };
  expect(listed(given)).toEqual({ entry: given, reports: [] });
});
