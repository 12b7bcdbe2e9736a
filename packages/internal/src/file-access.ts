import type { Stats } from "node:fs";

/**
 * Returns why other users can change a file or folder that must be the user's: another user owns it, or can write to it. Undefined if none
 * can.
 *
 * Files of root are accepted. On many systems each user has a group of the same number, without other members, which may write. Windows has
 * no such owners and modes: there `uid` is undefined.
 */
export function untrustedAccess(
  { mode, uid: owner, gid }: Pick<Stats, "mode" | "uid" | "gid">,
  uid: number | undefined,
): "owner" | "mode" | undefined {
  if (uid === undefined) return undefined;
  if (owner !== uid && owner !== 0) return "owner";
  const isOwnGroup = gid === uid && uid !== 0;
  return (mode & 0o002) === 0 && ((mode & 0o020) === 0 || isOwnGroup) ? undefined : "mode";
}
