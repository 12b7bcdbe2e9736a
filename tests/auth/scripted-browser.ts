import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { browserOf } from "./browser.ts";

/** A program that `BROWSER` can name: it hands the URL to a browser of this process, and its person signs in. */
export interface ScriptedBrowser {
  readonly program: string;
  /** The opened authorization URLs, and the visited redirect URLs. */
  readonly opened: URL[];
  readonly cameBack: URL[];
  /** The pages of redirect URIs, as their listeners sent them. */
  readonly pages: string[];
  close(): Promise<void>;
}

/** `onFailure` receives the reason why a sign-in cannot be completed. Default: the test fails. */
export async function scriptedBrowser(
  user: string,
  { onFailure = fail }: { onFailure?: (error: Error) => void } = {},
): Promise<ScriptedBrowser> {
  const [opened, cameBack]: [URL[], URL[]] = [[], []];
  const pages: string[] = [];
  const browser = browserOf({ user });
  const open = async (url: URL): Promise<void> => {
    opened.push(url);
    const back = await browser.signIn(url);
    cameBack.push(back);
    pages.push(await (await visit(back)).text());
  };
  const http = createServer((request, response) => {
    void text(request)
      .then((url) => {
        response.end();
        return open(new URL(url));
      })
      .catch(onFailure);
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  const { port } = http.address() as AddressInfo;
  const folder = mkdtempSync(path.join(tmpdir(), "mcparley-browser-"));
  const program = path.join(folder, "browser");
  const script = `fetch("http://127.0.0.1:${port}/", { method: "POST", body: process.argv[2] });`;
  writeFileSync(program, `#!${process.execPath}\n${script}\n`, { mode: 0o700 });
  return {
    program,
    opened,
    cameBack,
    pages,
    async close() {
      http.closeAllConnections();
      http.close();
      await once(http, "close");
      rmSync(folder, { recursive: true });
    },
  };
}

/** Visits a redirect URI. A program that opens the browser before it listens is visited again, as a person reloads the page. */
async function visit(url: URL): Promise<Response> {
  for (let reloads = 0; ; reloads++) {
    try {
      return await fetch(url);
    } catch (error) {
      if (reloads === 50) throw error;
      await setTimeout(100);
    }
  }
}

function fail(error: Error): never {
  throw error;
}
