// @ts-check
import { readManifest } from "../packages.mjs";

/**
 * The address of the repository on its forge, without a slash at the end: the member `repository` of the manifest of this repository.
 * `npm pkg set repository=URL` sets it. Undefined if it is not set: then no file names an address, and a release is refused.
 */
export const repository = addressIn(readManifest("."));

/**
 * Returns the address in the member `repository` of a manifest, which is a URL or an object with one.
 *
 * @param {{ repository?: string | { url: string } }} manifest
 * @returns {string | undefined}
 */
export function addressIn({ repository }) {
  const url = typeof repository === "string" ? repository : repository?.url;
  return url?.replace(/^git\+/, "").replace(/(\.git)?\/?$/, "");
}

/**
 * The members of a package's manifest that follow from the address of the repository. None without an address.
 *
 * @param {string} folder the folder of the package, relative to the repository
 * @param {string | undefined} address
 */
export function projectMembers(folder, address) {
  if (address === undefined) return {};
  return {
    homepage: `${address}#readme`,
    bugs: { url: `${address}/issues` },
    repository: { type: "git", url: `git+${address}.git`, directory: folder },
  };
}

/**
 * Returns the README of a package as it is published. Its relative links lead to guides in the package. With an address they lead to the
 * forge at the tag of the version, because the page of a package in the registry cannot show other files of the package.
 *
 * @param {string} text
 * @param {{ version: string; address: string | undefined }} release
 */
export function publishedReadme(text, { version, address }) {
  return address === undefined ? text : text.replaceAll("](docs/", `](${address}/blob/v${version}/docs/`);
}

/**
 * Returns the addresses in a text that a release would have to replace: placeholders, addresses of this project on a forge, and pages of
 * a registry. Only `projectMembers` and links of a release name an address.
 *
 * @param {string} text
 * @returns {string[]}
 */
export function placeholdersIn(text) {
  const patterns = [
    /[\w/:.]*\/(OWNER|YOUR[-_]?NAME|USERNAME|ORG)\/[\w./-]*/gi,
    /[\w/:.]*\b(github|gitlab|codeberg|npmjs)\.\w+\/[\w@./-]*mcparley[\w./-]*/gi,
    /[\w/:.]*\bexample\.\w+\/[\w./-]*mcparley[\w./-]*/gi,
  ];
  return [...new Set(patterns.flatMap((pattern) => text.match(pattern) ?? []))];
}
