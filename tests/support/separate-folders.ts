import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/** Variables that name the user's folders, which have precedence over the home folder. */
const userFolders = ["XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "APPDATA", "LOCALAPPDATA"];

/**
 * Sets an empty temporary folder and an empty home folder, so that a run changes nothing on the machine.
 *
 * The run fails if a test leaves a file in one of them. Both are deleted in any case.
 */
export default function setup(): () => void {
  const parent = mkdtempSync(path.join(tmpdir(), "mcparley-tests-"));
  const [temporary, home] = [path.join(parent, "tmp"), path.join(parent, "home")];
  mkdirSync(temporary);
  mkdirSync(home);
  for (const name of userFolders) delete process.env[name];
  Object.assign(process.env, { TMPDIR: temporary, TEMP: temporary, TMP: temporary, HOME: home, USERPROFILE: home });
  return () => {
    const left = readdirSync(parent, { recursive: true, encoding: "utf8" }).filter(
      (file) => file !== "tmp" && file !== "home",
    );
    rmSync(parent, { recursive: true, force: true });
    if (left.length === 0) return;
    process.exitCode = 1; // Vitest reports the error, but would exit with 0.
    throw new Error(`Tests left files behind: ${left.slice(0, 20).join(", ")}. Delete them when a test ends.`);
  };
}
