import { type Stats, closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from "node:fs";
import { untrustedAccess } from "@mcparley/internal/file-access";
import { ConfigError, systemCode } from "../config-error.ts";

/** Maximum size of a configuration file in bytes. The files are written by hand. */
const maxBytes = 1024 * 1024;

/** A file that was read after its checks. */
export interface TrustedFile {
  readonly bytes: Buffer;
  readonly mode: number;
  readonly owner: number;
  readonly group: number;
}

/**
 * Reads a file whose content can start programs. Returns undefined if there is no such file.
 *
 * Throws `ConfigError` if another user owns the file or can write to it: that user would decide what runs as this one. Files of root
 * are accepted. Windows has no such owners and modes, and is not checked. `limit` is the maximum size in bytes.
 */
export function readTrusted(
  file: string,
  limit: number = maxBytes,
  uid: number | undefined = process.getuid?.(),
): TrustedFile | undefined {
  const handle = openIfThere(file);
  if (handle === undefined) return undefined;
  try {
    // The open file is checked, so that it cannot be replaced between the check and the reading.
    const stats = fstatSync(handle);
    if (!stats.isFile()) return undefined;
    requireTrust(file, stats, uid);
    // A link has no mode of its own.
    const link = lstatSync(file);
    requireTrust(file, { uid: link.uid, gid: link.gid, mode: 0 }, uid);
    if (stats.size > limit) throw tooLarge(file, limit);
    const bytes = readFileSync(handle);
    // The file may have grown after the check of its size.
    if (bytes.length > limit) throw tooLarge(file, limit);
    return { bytes, mode: stats.mode & 0o777, owner: stats.uid, group: stats.gid };
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError("unreadable", `The file cannot be read (${systemCode(error)}).`, { file });
  } finally {
    closeSync(handle);
  }
}

/**
 * Returns the text of a file whose content can start programs. Returns undefined if there is no such file.
 *
 * Throws `ConfigError`: `untrusted` if another user owns the file or can write to it, `unreadable` if it is larger than 1 MiB, and
 * `invalid_file` if it is not UTF-8. Files of root are accepted. Windows has no such owners and modes, and is not checked.
 *
 * @example
 * ```ts
 * import { readTrustedFile } from "@mcparley/config";
 *
 * console.log(readTrustedFile("settings.json") ?? "There are no settings.");
 * ```
 */
export function readTrustedFile(file: string): string | undefined {
  const content = readTrusted(file);
  return content && decode(content.bytes, file);
}

/** Decodes the bytes of a file, and keeps a byte order mark. Throws `ConfigError` if they are not UTF-8. */
export function decode(bytes: Buffer, file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ConfigError("invalid_file", "The file is not UTF-8.", { file, cure: "Save it as UTF-8." });
  }
}

function openIfThere(file: string): number | undefined {
  try {
    // Without O_NONBLOCK, a named pipe would block the process.
    return openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT" || code === "ENOTDIR" || code === "EISDIR") return undefined;
    const cure = code === "EACCES" ? "Check the permissions of the file and of its folders." : "Check the path.";
    throw new ConfigError("unreadable", `The file cannot be read (${code}).`, { file, cure });
  }
}

function tooLarge(file: string, limit: number): ConfigError {
  const cure = "Remove content that is no longer needed.";
  return new ConfigError("unreadable", `The file is larger than ${limit / 1024 / 1024} MiB.`, { file, cure });
}

function requireTrust(
  file: string,
  { mode, uid: owner, gid }: Pick<Stats, "mode" | "uid" | "gid">,
  uid: number | undefined,
): void {
  const problem = untrustedAccess({ mode, uid: owner, gid }, uid);
  if (problem === "owner") {
    const fact = `The file belongs to another user (uid ${owner}), who could start any program as you.`;
    throw new ConfigError("untrusted", fact, { file, cure: "If you trust it, copy it to a file that you own." });
  }
  if (problem === "mode") {
    const fact = `Other users can write to the file (mode ${(mode & 0o777).toString(8)}), and could start any program as you.`;
    const cure = `Check its content, then run: chmod go-w ${JSON.stringify(file)}`;
    throw new ConfigError("untrusted", fact, { file, cure });
  }
}
