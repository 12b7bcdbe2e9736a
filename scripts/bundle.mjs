// @ts-check
import { rmSync } from "node:fs";
import path from "node:path";
import { build } from "esbuild";
import { root } from "./ready.mjs";

/**
 * Makes the JavaScript that is published: each entry point with what it needs, in a few files rather than hundreds,
 * since importing many small files is what makes a start slow. The declarations beside it come from the compiler.
 */
const packages = [
  {
    folder: "packages/mcparley",
    entries: [
      "index.ts",
      "entries/apps.ts",
      "entries/auth.ts",
      "entries/client.ts",
      "entries/http.ts",
      "entries/node.ts",
      "entries/otel.ts",
      "entries/server.ts",
      "entries/skills.ts",
      "entries/stdio.ts",
      "entries/tasks.ts",
      "entries/testing.ts",
      // Chosen by the "imports" of package.json, so that browsers do not get the one that spawns processes.
      "stdio/command-transport.ts",
      "client/no-command-transport.ts",
      // Likewise: the one that checks addresses, and the one that cannot.
      "node/guarded-send.ts",
      "auth/client/web-send.ts",
      // Likewise: the one that listens for a browser to come back, and the one that asks for another way to sign in.
      "node/sign-in/loopback-sign-in.ts",
      "auth/client/no-loopback-sign-in.ts",
    ],
  },
  { folder: "packages/redis", entries: ["index.ts"] },
  { folder: "packages/cli", entries: ["main.ts"] },
];

for (const { folder, entries } of packages) {
  const outdir = path.join(root, folder, "dist");
  rmSync(path.join(outdir, "chunks"), { recursive: true, force: true });
  await build({
    absWorkingDir: path.join(root, folder),
    entryPoints: entries.map((entry) => path.join("src", entry)),
    outbase: "src",
    outdir,
    bundle: true,
    splitting: true,
    chunkNames: "chunks/[name]-[hash]",
    packages: "external",
    external: ["#command-transport", "#guarded-send", "#loopback-sign-in"],
    format: "esm",
    platform: "neutral",
    target: "es2022",
    sourcemap: true,
    logLevel: "warning",
  });
}
