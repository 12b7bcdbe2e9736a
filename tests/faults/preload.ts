import { readdirSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const source = fileURLToPath(new URL("../../packages/mcparley/src/", import.meta.url));

/** The folders with modules that the client loads on first use. */
const folders = ["client", "extensions/tasks/client", "http/client", "mcp", "rpc", "schema", "stdio"];

/**
 * Loads the modules that the client loads on first use, so that no simulated time passes while one is read from the disk.
 */
export async function preload(): Promise<void> {
  const files = folders.flatMap((folder) =>
    readdirSync(path.join(source, folder), { recursive: true, encoding: "utf8" }).map((name) =>
      path.join(folder, name),
    ),
  );
  const modules = files.filter((name) => name.endsWith(".ts") && !/\.test(-d)?\.ts$/.test(name));
  await Promise.all(modules.map((name) => import(/* @vite-ignore */ path.join(source, name))));
}
