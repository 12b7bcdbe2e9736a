import { UsageError } from "../../terminal/io.ts";

/** An export of a package: `@ai-sdk/google-vertex/anthropic#vertexAnthropic`. */
export interface PackageExport {
  /** The name of the package, such as `@ai-sdk/google-vertex`. */
  readonly package: string;
  /** The package with its subpath, as in an import. */
  readonly specifier: string;
  /** The name of the export. */
  readonly export: string;
}

/** A name of a package with an optional subpath, and the name of an export. Paths and URLs do not match. */
const form =
  /^((?:@[a-z0-9~-][\w.~-]*\/)?[a-z0-9~-][\w.~-]*)((?:\/[\w~-][\w.~-]*)*)#([\p{ID_Start}$_][\p{ID_Continue}$]*)$/iu;

/**
 * Reads the text `PACKAGE#export`.
 *
 * Throws `UsageError` for any other text. `where` names the option or the setting that has it.
 */
export function readPackageExport(text: string, where: string): PackageExport {
  const [, name, subpath, exported] = form.exec(text) ?? [];
  if (name !== undefined && exported !== undefined && text.length <= 300) {
    return { package: name, specifier: `${name}${subpath}`, export: exported };
  }
  throw new UsageError(
    `${where}: ${JSON.stringify(text.slice(0, 300))} is not an export of a package.`,
    "Write PACKAGE#export, such as @ai-sdk/anthropic#anthropic.",
  );
}
