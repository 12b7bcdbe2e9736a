import { createHash } from "node:crypto";
import type { FolderContents } from "./load-folder.ts";

/** A change of a served folder: of a list, or of one resource. */
type Change = { list: "tools" | "prompts" | "resources" } | { uri: string };

interface Versions {
  readonly lists: Map<string, string>;
  /** The versions of resources by URI, and of skills by the URI of their folder. */
  readonly byUri: Map<string, string>;
}

/**
 * Returns a function that calculates the version of a change: a digest of the folder's lists, with the stamps of its files. Processes that serve the same folder return the same versions.
 */
export function changeVersions(contents: () => FolderContents): (change: Change) => string {
  const versionsOfContents = new WeakMap<FolderContents, Versions>();
  return (change) => {
    const current = contents();
    const versions = versionsOfContents.get(current) ?? versionsOf(current);
    versionsOfContents.set(current, versions);
    if ("list" in change) return versions.lists.get(change.list) ?? listVersion(current, change.list, versions.lists);
    return versions.byUri.get(change.uri) ?? versions.byUri.get(skillOf(change.uri, versions.byUri)) ?? "removed";
  };
}

function versionsOf({ resources, skills }: FolderContents): Versions {
  const byUri = new Map(resources.map(({ definition, shape }) => [definition.uri, digest(shape)]));
  for (const { name, shape } of skills) byUri.set(folderUri(name), digest(shape));
  return { lists: new Map(), byUri };
}

function listVersion(
  contents: FolderContents,
  list: "tools" | "prompts" | "resources",
  lists: Map<string, string>,
): string {
  const entries = list === "resources" ? [...contents.resources, ...contents.skills] : contents[list];
  const version = digest(JSON.stringify(entries.map(({ name, shape }) => [name, shape])));
  lists.set(list, version);
  return version;
}

/** Returns the URI of the innermost skill that a file is in. */
function skillOf(uri: string, byUri: ReadonlyMap<string, string>): string {
  let folder = uri;
  do folder = folder.slice(0, folder.lastIndexOf("/"));
  while (folder.includes("//") && !byUri.has(folder));
  return folder;
}

function folderUri(path: string): string {
  return `skill://${path.split("/").map(encodeURIComponent).join("/")}`;
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
