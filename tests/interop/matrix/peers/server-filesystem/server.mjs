import { mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/** The published server, in a folder with one file. */
const folder = path.join(tmpdir(), "mcparley-interop");
mkdirSync(folder, { recursive: true });
writeFileSync(path.join(folder, "note.txt"), "The answer is 42.\n");
process.argv.splice(2, Infinity, folder);
await import("@modelcontextprotocol/server-filesystem/dist/index.js");
