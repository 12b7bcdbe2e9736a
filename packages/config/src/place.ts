import { realpathSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { homeFolder } from "@mcparley/internal/home-folder";
import type { ConfigLocation, Place } from "./hosts/host.ts";

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
  const ofWindows = platform === "win32" ? env["USERPROFILE"] || env["HOME"] : undefined;
  return { env, platform, home: home ?? (ofWindows || homeFolder(env)), folder: resolve(folder) };
}

/** A location, and the folder to which its servers apply. */
export type FoundLocation<L extends ConfigLocation = ConfigLocation> = L & { readonly folder: string | undefined };

/**
 * Returns the locations of a place. Files of projects are searched in the folder and in its parents up to the home folder, the
 * nearest first. Outside of the home folder, the search ends at the root of the file system.
 */
export function locationsOf<L extends ConfigLocation>(
  locations: (place: Place) => readonly L[],
  place: Place,
): FoundLocation<L>[] {
  const locationsByKey = new Map<string, FoundLocation<L>>();
  const add = (location: L, folder: string): void => {
    const key = JSON.stringify([location.file, location.path]);
    // In the home folder, the file of a project can be that of the user.
    if (!locationsByKey.has(key))
      locationsByKey.set(key, { ...location, folder: location.scope === "user" ? undefined : folder });
  };
  for (const location of locations(place)) add(location, place.folder);
  const homes = new Set([place.home, ...realHomes(place)]);
  for (let { folder } = place; !homes.has(folder) && dirname(folder) !== folder;) {
    folder = dirname(folder);
    for (const location of locations({ ...place, folder })) {
      if (location.scope === "project") add(location, folder);
    }
  }
  return [...locationsByKey.values()];
}

/** Returns the home folder without links and without a separator at its end. A current folder has neither. */
function realHomes({ home }: Place): string[] {
  try {
    return [resolve(home), realpathSync(home)];
  } catch {
    return [resolve(home)];
  }
}
