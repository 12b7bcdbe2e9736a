import { homedir, userInfo } from "node:os";
import { isAbsolute } from "node:path";

/**
 * Returns the home folder of the user: `HOME` of the environment, or else that of the system. A value that is empty or relative is ignored:
 * the files of the user, such as the list of what the user trusts, would be those of the current folder, which can be that of a project.
 */
export function homeFolder(env: Readonly<Record<string, string | undefined>>): string {
  const absoluteFolder = [env["HOME"], homedir()].find((folder) => folder !== undefined && isAbsolute(folder));
  return absoluteFolder ?? userInfo().homedir;
}
