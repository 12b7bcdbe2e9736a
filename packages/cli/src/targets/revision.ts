import { supportedVersions } from "mcparley";
import { UsageError } from "../terminal/io.ts";

/** The pre-release is never negotiated, but a server that has only this version can be used. */
const usableVersions: readonly string[] = [...supportedVersions, "2024-10-07"];

/** Returns a revision of the protocol, or `auto`. Throws `UsageError` for another text. `place` is the place of the text, such as a file and a line. */
export function readRevision(version: string, place?: string): string {
  if (version === "auto" || usableVersions.includes(version)) return version;
  const prefix = place === undefined ? "" : `${place}: `;
  throw new UsageError(
    `${prefix}${JSON.stringify(version)} is not a revision of the protocol that mcparley supports.`,
    `Available: ${usableVersions.join(", ")}.`,
  );
}
