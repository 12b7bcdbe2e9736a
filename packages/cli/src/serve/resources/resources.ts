import { ErrorCode, ProtocolError } from "mcparley";
import {
  type CompletionHandler,
  type Context,
  type Resource,
  requireScopes,
  resource,
  resourceNotFound,
} from "mcparley/server";
import { mimeTypeOf } from "../files/file-types.ts";
import { type ServedRoot, resolveInside } from "../files/inside-folder.ts";
import type { Loaded } from "../yaml/problem.ts";
import { showSize } from "../../terminal/show-content.ts";
import { type Contents, FileTooLarge, readContents } from "../files/read-contents.ts";
import { type ResourceFile, nameOf, templateOf, uriOf } from "./resource-files.ts";
import type { ResourceNotes } from "./resource-notes.ts";
import type { ScopeRules } from "../settings/scope-rules.ts";

/** The settings of the folder for reading its files. */
export interface ResourceOptions {
  scheme: string;
  /** Maximum size of a file in bytes. */
  fileSize: number;
  /** The scopes that files require. */
  rules: ScopeRules;
}

/** Creates a resource for a file. Each read checks the path again and reads the file again. */
export function fileResource(
  file: ResourceFile,
  notes: ResourceNotes | undefined,
  options: ResourceOptions,
): Loaded<Resource> {
  const uri = uriOf(options.scheme, file.root.name, file.path);
  const mimeType = notes?.mimeType ?? file.mimeType;
  const { annotations, ...noteData } = notes ?? {};
  const listData = {
    ...(file.heading !== undefined && { title: file.heading }),
    ...noteData,
    mimeType,
    size: file.size,
    annotations: { ...annotations, lastModified: file.lastModified },
  };
  return {
    name: nameOf(file),
    file: nameOf(file),
    shape: JSON.stringify([uri, listData, file.stamp]),
    definition: resource(uri, {
      ...listData,
      scopes: options.rules.scopesOf(nameOf(file)),
      read: async (_, { principal }) => ({
        ...(await readFile(file.root, file.path, { ...options, uri, principal })),
        mimeType,
      }),
    }),
  };
}

/**
 * Creates the resource template of a root.
 *
 * It completes paths for clients that let a user type one. It also serves files that are newer than the last listing,
 * or that a limit excluded from the list.
 */
export function rootTemplate(
  root: ServedRoot,
  complete: CompletionHandler,
  options: ResourceOptions,
): Loaded<Resource> {
  const uriTemplate = templateOf(options.scheme, root.name);
  return {
    name: root.name,
    file: root.name,
    shape: uriTemplate,
    definition: resource<string>(uriTemplate, {
      title: `A file in ${root.name}`,
      description: `Any file in ${root.name}, by its path there.`,
      complete: { path: complete },
      scopes: options.rules.scopesOf(root.name),
      read: async (variables, { uri, principal }) => {
        const path = String(variables.path);
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
  /** The client that reads the file. */
  principal: Context["principal"];
}

/**
 * Reads a file of a root for a client.
 *
 * Throws the protocol's error if the file does not exist, an error with both sizes if it is too large, and an error
 * with the missing scopes if the client lacks them. Scopes are checked for the real path too.
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
      `${uri} has ${showSize(error.size)}, and this server reads files of at most ${showSize(error.limit)}. ` +
      "Its owner can raise limits.fileSize in server.yaml.";
    throw new ProtocolError(ErrorCode.InternalError, message, { cause: error });
  }
  throw resourceNotFound(uri);
}
