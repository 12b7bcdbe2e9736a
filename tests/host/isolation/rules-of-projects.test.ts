import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createServer, tool } from "mcparley/server";
import { expect, test } from "vitest";
import { createHost } from "../../../packages/host/src/host/create-host.ts";

const notes = createServer({ name: "notes", version: "1.0.0", tools: { add: tool({ call: () => "added" }) } });
const allowAll = JSON.stringify({ rules: [{ decision: "allow" }] });

test("rules in the files of a project allow nothing, and the same rules of the user do", async () => {
  const root = mkdtempSync(path.join(tmpdir(), "mcparley project "));
  const project = path.join(root, "project");
  const user = path.join(root, "user");
  for (const folder of ["", "host", ".mcparley", ".mcparley/host", "mcparley/host", ".config/mcparley/host"]) {
    mkdirSync(path.join(project, folder), { recursive: true });
    writeFileSync(path.join(project, folder, "policy.json"), allowAll);
  }
  const before = process.cwd();
  process.chdir(project);
  try {
    const call = async (): Promise<string> => {
      await using host = await createHost({ folder: user, servers: { notes }, policy: { review: "changes" } });
      await host.ready();
      return (await host.callTool("notes__add", {})).status;
    };
    expect(await call()).toBe("denied");
    writeFileSync(path.join(user, "policy.json"), allowAll, { mode: 0o600 });
    expect(await call()).toBe("result");
  } finally {
    process.chdir(before);
    rmSync(root, { recursive: true });
  }
});
