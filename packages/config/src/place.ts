import { homedir } from "node:os";
import { dirname, resolve } from "node:path";
import type { ConfigLocation, HostRules, Place } from "./hosts/host.ts";

/** The machine and the folder whose configuration is read or written. */
export interface PlaceOptions {
  /** The folder of the project. Default: the current folder. */
  readonly folder?: string;
  /** The environment, with `HOME` and variables such as `CODEX_HOME`. Default: that of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Default: the platform of the process. */
  readonly platform?: NodeJS.Platform;
  /** The home folder. Default: `HOME` or `USERPROFILE` of `env`, or else that of the user. */
  readonly home?: string;
}

export function placeOf({ folder = ".", env = process.env, platform = process.platform, home }: PlaceOptions): Place {
  const ofEnv = platform === "win32" ? env["USERPROFILE"] || env["HOME"] : env["HOME"];
  return { env, platform, home: home ?? (ofEnv || homedir()), folder: resolve(folder) };
}

/** A location, and the folder to which its servers apply. */
export interface FoundLocation extends ConfigLocation {
  readonly folder: string | undefined;
}

/**
 * Returns the locations of a host. Files of projects are searched in the folder and in its parents up to the home folder, the
 * nearest first.
 */
export function locationsOf(rules: HostRules, place: Place): FoundLocation[] {
  const found = new Map<string, FoundLocation>();
  const add = (location: ConfigLocation, folder: string): void => {
    const key = JSON.stringify([location.file, location.path]);
    // In the home folder, the file of a project can be that of the user.
    if (!found.has(key)) found.set(key, { ...location, folder: location.scope === "user" ? undefined : folder });
  };
  for (const location of rules.locations(place)) add(location, place.folder);
  for (let folder = place.folder; folder !== place.home && dirname(folder) !== folder;) {
    folder = dirname(folder);
    for (const location of rules.locations({ ...place, folder })) {
      if (location.scope === "project") add(location, folder);
    }
  }
  return [...found.values()];
}
