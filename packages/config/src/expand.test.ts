import { describe, expect, test } from "vitest";
import { type ExpandOptions, type ExpandedTarget, expandTarget } from "./expand.ts";
import type { HostId } from "./model.ts";
import { readConfigFile } from "./read.ts";
import { temporaryFolder } from "./testing/temporary-folder.ts";

interface Given extends ExpandOptions {
  readonly host?: HostId;
  readonly files?: Readonly<Record<string, string>>;
}

async function expand(
  entry: object,
  { host = "vscode", files = {}, ...options }: Given = {},
): Promise<ExpandedTarget & { folder: string }> {
  const folder = temporaryFolder({ "mcp.json": JSON.stringify({ s: { notes: entry } }, null, 1), ...files });
  const [server] = readConfigFile(`${folder}/mcp.json`, { host, path: ["s"], folder }).servers;
  if (!server) throw new Error("The file has no server.");
  const env = { TOKEN: "token-0", EMPTY: "" };
  return { ...(await expandTarget(server, { env, home: "/home/me", ...options })), folder };
}

describe("expandTarget", () => {
  test("fills in no member that each object has", async () => {
    await expect(expand({ command: "x", args: ["${env:toString}"] })).rejects.toMatchObject({
      code: "unset_reference",
    });
    expect(await expand({ command: "x", args: ["${constructor:-none}"] })).toMatchObject({ args: ["none"] });
  });

  test("fills in the references of a command, and the variables of its envFile", async () => {
    const entry = {
      command: "${userHome}/bin/x",
      args: ["${workspaceFolder}/a", "${env:TOKEN}${TOKEN}", "${NONE:-d}${EMPTY:-e}", "${workspaceFolderBasename}", 1],
      env: { KEY: "${input:key}", B: "own" },
      envFile: "${workspaceFolder}/.env",
      cwd: "sub",
    };
    const input = (id: string): Promise<string> => Promise.resolve(`asked for ${id}`);
    const target = await expand(entry, { input, files: { ".env": "A=1\nB=2\n" } });
    const { folder, entry: _entry, ...expanded } = target;
    expect({ ...expanded, folder }).toEqual({
      kind: "command",
      command: "/home/me/bin/x",
      args: [`${folder}/a`, "token-0token-0", "de", folder.split("/").at(-1), "1"],
      env: { A: "1", B: "own", KEY: "asked for key" },
      cwd: `${folder}/sub`,
      folder,
    });
  });

  test.each([
    "${NONE:-${OTHER:-d}}",
    "a ${TOKEN:-${env:TOKEN}} b",
    '${NONE:-{"a":1}}',
    "${env:${TOKEN}}",
    "${NONE:-{}}",
  ])("rejects %s, of which a host replaces a part", async (text) => {
    const [reference] = /\$.*\}/.exec(text) ?? [];
    for (const host of ["claude-code", "vscode", "mcparley"] as const) {
      await expect(expand({ command: "x", args: [text] }, { host })).rejects.toMatchObject({
        code: "unset_reference",
        message: expect.stringContaining(`refers to ${reference}, which is not a known reference`),
      });
    }
  });

  test("leaves braces outside of references, and an open reference", async () => {
    const args = ['{"a":{"b":"x"}}', "${NONE:-d", "{TOKEN}", "}${"];
    expect(await expand({ command: "x", args })).toMatchObject({ args });
  });

  test("fills in the references of a URL", async () => {
    const entry = {
      type: "sse",
      url: "https://${HOST:-a.example}/mcp",
      headers: { Authorization: "Bearer ${env:TOKEN}" },
    };
    expect(await expand(entry)).toMatchObject({
      kind: "url",
      url: "https://a.example/mcp",
      transport: "sse",
      headers: { Authorization: "Bearer token-0" },
    });
  });

  test("reads the file of a reference beside the configuration", async () => {
    const entry = { type: "remote", url: "https://a.example", headers: { A: "Bearer {file:./token} {env:TOKEN}" } };
    const target = await expand(entry, { host: "opencode", files: { token: "from-file\n" } });
    expect(target).toMatchObject({ headers: { A: "Bearer from-file token-0" } });
  });

  test.each<[object, Given, string, string]>([
    [
      { command: "x", env: { A: "sk-literal", B: "${env:NONE}" } },
      {},
      ":7:5",
      '"env.B" of the server "notes" refers to ${env:NONE}, and that environment variable is not set. Set the environment variable NONE.',
    ],
    [
      { command: "x", args: ["${input:key}"] },
      {},
      ":6:5",
      '"args.0" of the server "notes" refers to ${input:key}, which only the host asks for.',
    ],
    [{ command: "x", args: ["${file:/etc/passwd}"] }, {}, ":6:5", "which is not a known reference."],
    [{ command: "x", args: ["${command:y}"] }, {}, ":6:5", "which is not a known reference. Known are ${env:NAME}"],
    [
      { command: "x", envFile: "${TOKEN}/none.env" },
      {},
      ":5:4",
      'names "${env:TOKEN}/none.env", which does not exist or is not a file.',
    ],
    [
      { type: "remote", url: "https://a.example", headers: { A: "{file:none}" } },
      { host: "opencode" },
      ":7:5",
      "which does not exist or is not a file. Create the file.",
    ],
    [{ url: "${TOKEN}" }, {}, ":4:4", '"url" of the server "notes" is not an http or https URL after its references.'],
  ])("rejects %j with file, line and reference", async (entry, options, position, message) => {
    const text = await expand(entry, options).then(
      () => "no error",
      (error: unknown) => String(error),
    );
    expect(text).toContain(`mcp.json${position}: `);
    expect(text).toContain(message);
    expect(text).not.toMatch(/sk-literal|token-0/);
  });

  test("rejects an invalid entry with its problem", async () => {
    await expect(expand({ args: [] })).rejects.toThrow('Server "notes": The entry needs a "command"');
  });
});
