// @ts-check
import { existsSync } from "node:fs";
import path from "node:path";
import { checkFiles, checkGuides, checkLinks, writeList } from "./files.mjs";
import { checkBudget, installInto } from "./install.mjs";
import { lintTarballs } from "./lint.mjs";
import { packAll, tarballsOf } from "./pack.mjs";
import { compileProgram, importEntryPoints, importWithPeers, useCommand, useLauncher } from "./programs.mjs";

/** Third-party packages of the program that is compiled against the declarations. */
const companions = ["@opentelemetry/api@1.9.1", "@types/node@20.19.25", "typescript@7.0.2", "zod@4.6.7"];

/**
 * Packs the published packages and checks what users install: the files, the metadata, the declarations, the size, and that entry
 * points and commands work in an empty project. Returns the tarballs.
 *
 * @param {{ folder: string; update?: boolean; checks: import("./checks.mjs").Checks }} options `folder` receives the tarballs and
 *   projects; `update` writes the file lists instead of comparing them
 */
export function checkArtifact({ folder, update = false, checks }) {
  const all = packAll(folder);
  for (const packed of all) {
    if (update) writeList(packed);
    checkFiles(packed, checks);
    checkGuides(packed, checks);
    checkLinks(packed, { all, checks });
  }
  const library = all.find(({ name }) => name === "mcparley");
  if (!library) throw new Error("The package mcparley is not among the workspaces.");
  lintTarballs(all, checks);
  for (const packed of all) checkInstalled(packed, { all, folder, checks });
  useLauncher(all, path.join(folder, "launched"), checks);
  const project = path.join(folder, "declarations");
  installInto(project, [library.file, ...companions]);
  importWithPeers(library, project, checks);
  compileProgram(project, checks);
  return all;
}

/**
 * Installs a package into an empty project, without its optional packages.
 *
 * @param {import("./pack.mjs").Packed} packed
 * @param {{ all: import("./pack.mjs").Packed[]; folder: string; checks: import("./checks.mjs").Checks }} artifact
 */
function checkInstalled(packed, { all, folder, checks }) {
  const project = path.join(folder, "alone", packed.name);
  installInto(project, tarballsOf(all, packed.name));
  checkBudget(packed.name, project, checks);
  importEntryPoints(packed, project, checks);
  if (packed.name !== "@mcparley/cli") return;
  const store = path.join(project, "node_modules/@mcparley/redis");
  checks.check("@mcparley/cli is installed without @mcparley/redis", !existsSync(store));
  useCommand(project, checks);
}
