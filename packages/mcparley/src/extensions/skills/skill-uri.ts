const fileName = "SKILL.md";

/** The folder of a skill, by the URI of its `SKILL.md`; undefined where the URI is not one. */
export function rootOf(uri: string): string | undefined {
  const match = /^[a-z][a-z\d+.-]*:\/\/[^?#\s]*[^/?#\s]\/SKILL\.md$/i.exec(uri);
  if (!match) return undefined;
  const root = uri.slice(0, -fileName.length - 1);
  return partsOf(root).every(isPlain) ? root : undefined;
}

/** The name that the URI of a skill's folder ends with. */
export function lastPart(root: string): string {
  return decoded(partsOf(root).at(-1)!) ?? "";
}

/** Whether a URI names a file in a folder, without any part that leads elsewhere once it is decoded. */
export function isInside(root: string, uri: string): boolean {
  return (
    uri.startsWith(`${root}/`) &&
    uri
      .slice(root.length + 1)
      .split("/")
      .every(isPlain)
  );
}

/** The path in a folder that a URI inside it stands for, whichever way it is percent-encoded. */
export function pathIn(root: string, uri: string): string {
  return decodeURIComponent(uri.slice(root.length + 1));
}

/** The URI of a plain path, in a folder or among all skills. */
export function uriOf(path: string, root: string = "skill:/"): string {
  return `${root}/${path.split("/").map(encodeURIComponent).join("/")}`;
}

/** Whether a path, with `/` between its parts, stays where it begins and has nothing in it that hides. */
export function isPlainPath(path: string): boolean {
  return path
    .split("/")
    .every((part) => part !== "" && part !== "." && part !== ".." && !/[\p{Cc}\p{Cs}\\]/u.test(part));
}

function partsOf(root: string): string[] {
  return root.slice(root.indexOf("://") + 3).split("/");
}

function isPlain(part: string): boolean {
  const text = decoded(part);
  return text !== undefined && !/[?#]/.test(part) && !text.includes("/") && isPlainPath(text);
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
