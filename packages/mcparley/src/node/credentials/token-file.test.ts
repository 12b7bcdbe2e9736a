import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { tokenFile } from "./file-credentials.ts";

test("a token is read from its file for each call, without the line ending", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "mcparley-token-"));
  try {
    const file = path.join(folder, "token");
    const read = tokenFile(file);
    await expect(read()).rejects.toMatchObject({ code: "ENOENT" });
    for (const token of ["first", "second"]) {
      writeFileSync(file, `${token}\n`);
      expect(await read()).toBe(token);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
