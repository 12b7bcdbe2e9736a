import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { HttpConnection } from "mcparley/client";
import { type CommandIo, UsageError } from "../terminal/io.ts";
import type { NetworkOptions } from "./options.ts";

/**
 * Returns the connection settings that the options name. Returns undefined without such options.
 *
 * Throws `UsageError` for a file that cannot be read, and for options that need another one.
 */
export function readConnection(
  { proxy, cacert = [], cert, key, keyPassphraseEnv }: Partial<NetworkOptions>,
  { cwd, env }: Pick<CommandIo, "cwd" | "env">,
): HttpConnection | undefined {
  if (cert !== undefined && key === undefined) {
    throw new UsageError(
      "--cert needs the private key of the certificate.",
      "Add --key FILE; it may be the same file.",
    );
  }
  if (key !== undefined && cert === undefined) {
    throw new UsageError("--key needs the certificate of the key.", "Add --cert FILE.");
  }
  if (keyPassphraseEnv !== undefined && key === undefined) {
    throw new UsageError("--key-passphrase-env needs the key too: add --cert FILE --key FILE.");
  }
  const read = (option: string, file: string): Buffer => readOptionFile(option, file, cwd);
  const connection: HttpConnection = {
    ...(proxy !== undefined && { proxy }),
    ...(cacert.length > 0 && { ca: cacert.map((file) => read("--cacert", file)) }),
    ...(cert !== undefined && { cert: read("--cert", cert) }),
    ...(key !== undefined && { key: read("--key", key) }),
    ...(keyPassphraseEnv !== undefined && { passphrase: readPassphrase(keyPassphraseEnv, env) }),
  };
  return Object.keys(connection).length === 0 ? undefined : connection;
}

function readOptionFile(option: string, file: string, cwd: string): Buffer {
  try {
    const path = resolve(cwd, file);
    const stats = statSync(path);
    // A pipe would be waited for without end, if no program writes into it.
    if (stats.isFile() || stats.isDirectory()) return readFileSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const problem =
      code === "ENOENT" ? "does not exist" : code === "EISDIR" ? "is a folder" : `cannot be read (${code})`;
    throw wrongFile(option, file, problem);
  }
  throw wrongFile(option, file, "is not a regular file");
}

function wrongFile(option: string, file: string, problem: string): UsageError {
  return new UsageError(`${option} ${file} ${problem}.`, `Name a file in PEM format, such as ${option} corporate.pem`);
}

function readPassphrase(name: string, env: CommandIo["env"]): string {
  const value = env[name];
  if (value) return value;
  throw new UsageError(`The environment variable ${name}, which --key-passphrase-env names, is not set.`);
}
