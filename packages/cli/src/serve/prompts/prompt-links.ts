import { posix, resolve } from "node:path";
import { type ServedRoot, partsBelow, resolveInside } from "../files/inside-folder.ts";
import { uriOf } from "../resources/resource-files.ts";

/** A file that a prompt refers to. */
export interface Linked {
  root: ServedRoot;
  /** Relative to the root. */
  path: string;
  /** Its URI as a resource; undefined for pictures and sounds that lie beside the prompts. */
  uri: string | undefined;
}

export interface LinkScope {
  folder: string;
  scheme: string;
  roots: readonly ServedRoot[];
  /** The folder of the prompts themselves. */
  prompts: ServedRoot;
}

/**
 * Returns the file that a link in a prompt names, or undefined if there is none that may be shown.
 *
 * A target is relative to the prompt's own file, as usual in Markdown, so that editors and web views can follow it. It
 * can also start with `/` and be relative to the folder, or be the URI of a resource of this server.
 */
export async function findLinked(target: string, file: string, scope: LinkScope): Promise<Linked | undefined> {
  const namedPath = nameFile(target, file, scope);
  if (!namedPath || (await resolveInside(namedPath.root, namedPath.path)) === undefined) return undefined;
  const { root, path } = namedPath;
  return { root, path, uri: root === scope.prompts ? undefined : uriOf(scope.scheme, root.name, path) };
}

/** Returns the root that a target names, and the path in it. Does not access the file system. */
export function nameFile(target: string, file: string, scope: LinkScope): Omit<Linked, "uri"> | undefined {
  const decodedTarget = decode(target);
  if (decodedTarget === undefined || decodedTarget.includes("\0")) return undefined;
  const ownScheme = `${scope.scheme}://`;
  if (decodedTarget.startsWith(ownScheme)) {
    const [name, ...parts] = decodedTarget.slice(ownScheme.length).split("/");
    const root = scope.roots.find((candidate) => candidate.name === name);
    return root && { root, path: parts.join("/") };
  }
  if (/^[a-z][a-z0-9+.-]+:/i.test(decodedTarget)) return undefined;
  const path = decodedTarget.startsWith("/") ? decodedTarget.slice(1) : posix.join(posix.dirname(file), decodedTarget);
  const absolute = resolve(scope.folder, path);
  for (const root of [...scope.roots, scope.prompts]) {
    const innerParts = partsBelow(root.path, absolute);
    if (innerParts && innerParts.length > 0) return { root, path: innerParts.join("/") };
  }
  return undefined;
}

function decode(target: string): string | undefined {
  try {
    return decodeURIComponent(target);
  } catch {
    return undefined;
  }
}
