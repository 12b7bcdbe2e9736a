import { ErrorCode, ProtocolError } from "mcparley";
import { type Complete, type Context, type Resource, requireScopes, resource, resourceNotFound } from "mcparley/server";
import { mimeTypeOf } from "../files/file-types.ts";
import { type ServedRoot, resolveInside } from "../files/inside-folder.ts";
import type { Loaded } from "../problem.ts";
import { showBytes } from "../yaml/values.ts";
import { type Contents, FileTooLarge, readContents } from "../files/read-contents.ts";
import { type ResourceFile, nameOf, templateOf, uriOf } from "./resource-files.ts";
import type { ResourceNotes } from "./resource-notes.ts";
import type { ScopeRules } from "../settings/scope-rules.ts";

/** What reading needs to know of the folder. */
export interface ResourceOptions {
  scheme: string;
  /** The largest file that is read, in bytes. */
  fileSize: number;
  /** What files need of whoever reads them. */
  rules: ScopeRules;
}

/** Makes a resource of a file. It is read anew, and its path checked anew, each time that a client asks. */
export function fileResource(
  file: ResourceFile,
  notes: ResourceNotes | undefined,
  options: ResourceOptions,
): Loaded<Resource> {
  const uri = uriOf(options.scheme, file.root.name, file.path);
  const mimeType = notes?.mimeType ?? file.mimeType;
  const title = notes?.title ?? file.heading;
  const listed = {
    ...(title !== undefined && { title }),
    ...(notes?.description !== undefined && { description: notes.description }),
    ...(notes?.icons && { icons: notes.icons }),
    mimeType,
    size: file.size,
    annotations: { ...notes?.annotations, lastModified: file.lastModified },
  };
  return {
    name: nameOf(file),
    file: nameOf(file),
    shape: JSON.stringify([uri, listed, file.stamp]),
    definition: resource(uri, {
      ...listed,
      scopes: options.rules.of(nameOf(file)),
      read: async (_, { principal }) => ({
        ...(await readFile(file.root, file.path, { ...options, uri, principal })),
        mimeType,
      }),
    }),
  };
}

/**
 * Makes the template of a root: it completes paths for clients that let a person type one, and reaches files that came
 * after the last look at the folder, or that a limit left out of the list.
 */
export function rootTemplate(root: ServedRoot, complete: Complete, options: ResourceOptions): Loaded<Resource> {
  const uriTemplate = templateOf(options.scheme, root.name);
  return {
    name: root.name,
    file: root.name,
    shape: uriTemplate,
    definition: resource<string>(uriTemplate, {
      title: `A file in ${root.name}`,
      description: `Any file in ${root.name}, by its path there.`,
      complete: { path: complete },
      scopes: options.rules.of(root.name),
      read: async ({ path = "" }, { uri, principal }) => {
        const contents = await readFile(root, path, { ...options, uri, principal });
        return { ...contents, mimeType: mimeTypeOf(path, () => "text" in contents) };
      },
    }),
  };
}

interface Reading {
  uri: string;
  fileSize: number;
  rules: ScopeRules;
  /** Who reads it. */
  principal: Context["principal"];
}

/**
 * Reads a file of a root for somebody. Throws the protocol's own error where there is none, one that says so where it is
 * too large, and one that names the scopes which the file needs and the reader lacks, whichever way leads to it.
 */
export async function readFile(
  root: ServedRoot,
  path: string,
  { uri, fileSize, rules, principal }: Reading,
): Promise<Contents> {
  const real = await resolveInside(root, path);
  if (real === undefined) throw resourceNotFound(uri);
  requireScopes(rules.ofFile(nameOf({ root, path }), real), principal);
  try {
    const contents = await readContents(real, fileSize);
    if (contents) return contents;
  } catch (error) {
    if (!(error instanceof FileTooLarge)) throw error;
    const message =
      `${uri} has ${showBytes(error.size)}, and this server reads files of at most ${showBytes(error.limit)}. ` +
      "Its owner can raise limits.fileSize in server.yaml.";
    throw new ProtocolError(ErrorCode.InternalError, message, { cause: error });
  }
  throw resourceNotFound(uri);
}
