import { Declined } from "mcparley";
import { readApprovals } from "../../targets/approval.ts";
import { type CommandIo, UsageError } from "../../terminal/io.ts";
import type { FoundPackage } from "./find-package.ts";
import type { PackageExport } from "./chat-settings.ts";

/** The question whether the code of a provider's package may run. */
export interface ProviderQuestion {
  /** The package and its export, such as `@ai-sdk/anthropic#anthropic`. */
  readonly name: string;
  /** The folder of the package, without symbolic links. */
  readonly path: string;
  /** The version in the package's manifest. Empty if it has none. */
  readonly version: string;
}

/** The surroundings of a model. */
export interface ModelSurroundings extends Pick<CommandIo, "cwd" | "env" | "platform"> {
  /** Asks whether a provider's package may be loaded. Undefined if nobody can be asked. */
  readonly confirm?: ((question: ProviderQuestion) => Promise<boolean>) | undefined;
}

/** The file of the approved packages, in the user's folder for state. */
const list = "approved-providers";

/**
 * Asks whether the code of a provider's package may run, the first time that it is used. The answer is remembered for the
 * folder, the version and the export.
 *
 * Throws `Declined` on a no, and `UsageError` if nobody can be asked.
 */
export async function approveProvider(
  provider: PackageExport,
  found: FoundPackage,
  surroundings: ModelSurroundings,
): Promise<void> {
  const { path, version } = found;
  const name = `${provider.specifier}#${provider.export}`;
  const subject = JSON.stringify([path, version, name]);
  const approvals = readApprovals(list, surroundings);
  if (approvals.has(subject)) return;
  const title = `${name} (version ${version || "unknown"}, ${path})`;
  if (!surroundings.confirm) {
    throw new UsageError(
      `The code of the provider ${title} was not approved, and nobody can be asked.`,
      "Run mcparley chat with it once at a terminal, and confirm it.",
    );
  }
  if (!(await surroundings.confirm({ name, path, version }))) {
    throw new Declined(`The provider ${title} was not approved.`);
  }
  approvals.add(subject);
}
