import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { callTool, getStream, message, messages, open, request } from "../cluster-in-memory/cluster.ts";
import { oneConnection } from "../support/one-connection.ts";
import { type RawHttp, rawHttp } from "../support/raw-http.ts";
import { type Running, startCommand } from "./run-command.ts";

const toolThat = (call: string): string =>
  `import { tool } from "mcparley/server";\nexport default tool({ call: ${call} });\n`;
const who = { "tools/who.js": toolThat("() => String(process.pid)") };

type Session = Record<string, string>;

/** A client whose requests one worker answers, and the process of that worker. */
interface Lane {
  readonly client: RawHttp;
  readonly pid: number;
}

interface Served extends Running {
  readonly url: string;
  readonly session: Session;
  readonly lanes: readonly [Lane, Lane];
}

async function textOf(client: RawHttp, session: Session, name: string): Promise<string> {
  const answer = await callTool(client, session, name, crypto.randomUUID());
  const { result, error } = answer.type === "application/json" ? await answer.json() : (await message(answer))!;
  return (result as any)?.content?.[0]?.text ?? JSON.stringify(error);
}

const start = (words: readonly string[], files: Record<string, string> = {}): Running =>
  startCommand(["serve", ".", "--port", "0", "--workers", "2", ...words], { files: { ...who, ...files } });

/** Serves a folder with two workers, and opens a connection to each of them. */
async function serve(words: readonly string[], files?: Record<string, string>): Promise<Served> {
  const running = start(words, files);
  const [, url = ""] = await running.printed(/^ {2}(http:\S+)\n {2}in 2 worker processes$/m);
  const session = await open(rawHttp(url, oneConnection()));
  const lanes = new Map<number, Lane>();
  // The first worker prints the banner, and the second one listens a moment later.
  await expect
    .poll(async () => {
      const client = rawHttp(url, oneConnection());
      const pid = Number(await textOf(client, session, "who"));
      lanes.set(pid, { client, pid });
      return lanes.size;
    })
    .toBe(2);
  const [first, second] = lanes.values();
  return { ...running, url, session, lanes: [first!, second!] };
}

const toolNames = async ({ client }: Lane, session: Session): Promise<string[]> =>
  ((await (await request(client, session, "tools/list")).json()).result as any).tools.map(({ name }: any) => name);

describe("serve --workers", () => {
  test("reads an edited folder again in all workers, which share a session, and notifies once", async () => {
    const { url, folder, lanes, session, terminate, finished } = await serve([]);
    const [first, second] = lanes;
    const stream = await getStream(rawHttp(url, oneConnection()), session);
    expect(await toolNames(first, session)).toEqual(["who"]);
    writeFileSync(path.join(folder, "tools/new.js"), toolThat('() => "new"'));
    await expect.poll(() => toolNames(first, session)).toEqual(["who", "new"]);
    await expect.poll(() => toolNames(second, session)).toEqual(["who", "new"]);
    expect(await textOf(second.client, session, "new")).toBe("new");
    expect(await message(stream)).toEqual({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
    terminate();
    expect(await messages(stream)).toEqual([]);
    const { code, err } = await finished;
    expect({ code, err }).toEqual({ code: 0, err: "" });
  });

  test("replaces a killed worker, whose sessions continue", async () => {
    const { url, lanes, session, seen, interrupt, finished } = await serve(["--no-watch"]);
    const [first, second] = lanes;
    process.kill(first.pid, "SIGKILL");
    await seen(`(process ${first.pid}) ended with signal SIGKILL. Another one starts in 500 ms.`);
    expect(await textOf(second.client, session, "who")).toBe(String(second.pid));
    await expect
      .poll(async () =>
        [first.pid, second.pid].includes(Number(await textOf(rawHttp(url, oneConnection()), session, "who"))),
      )
      .toBe(false);
    interrupt();
    const { code, out } = await finished;
    expect(code).toBe(0);
    expect(out.match(/is served at/g)).toHaveLength(1);
  });

  test("counts a rate limit over all workers", async () => {
    const files = { "server.yaml": "rateLimit: {perSecond: 0.001, burst: 20}\n" };
    const { lanes, session } = await serve(["--no-watch"], files);
    const answers: string[] = [];
    for (let call = 0; call < 20; call++) answers.push(await textOf(lanes[call % 2]!.client, session, "who"));
    // The first calls found the workers. Two separate limits would allow all of these.
    expect(answers.some((answer) => answer.includes("Too many"))).toBe(true);
  });

  test("prints the problems of the folder once", async () => {
    const { terminate, finished } = await serve(["--no-watch"], { "prompts/bad.md": "{{ x }}" });
    terminate();
    const { err } = await finished;
    expect(err.match(/prompts\/bad\.md:1:4/g)).toHaveLength(1);
    expect(err).toContain("1 problem. The rest is served at");
  });

  test("reports a port in use once, with its cure", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void taken.close());
    await once(taken, "listening");
    const { port } = taken.address() as AddressInfo;
    const { code, err, out } = await start(["--port", String(port), "--no-watch"]).finished;
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toBe(
      `mcparley: Port ${port} of 127.0.0.1 is in use by another process. Choose another port, or 0 for any.\n` +
        "  Stop the program that uses the port, or choose another port, such as any free port: --port 0\n",
    );
  });

  test("reports an invalid --store once, because it has precedence over the store of the workers", async () => {
    const { code, err } = await start(["--store", "http://x", "--no-watch"]).finished;
    expect(code).toBe(1);
    expect(err).toBe(
      "mcparley: --store does not support http://.\n  Give a URL such as redis://127.0.0.1:6379 or rediss://….\n",
    );
  });
});
