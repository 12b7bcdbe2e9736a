// @ts-check

/**
 * The address of the repository on its forge, without a slash at the end. `OWNER` is a placeholder: a release fails until it
 * is replaced here. Then `npm run project` writes the address into the manifests and pages that name it.
 */
export const repository = "https://github.com/OWNER/mcparley";

/** Whether an address still has the placeholder. */
export function isPlaceholder(address = repository) {
  return new URL(address).pathname.split("/").includes("OWNER");
}

/**
 * The members of a package's manifest that follow from the address of the repository.
 *
 * @param {string} folder the folder of the package, relative to the repository
 */
export function projectMembers(folder, address = repository) {
  return {
    homepage: `${address}#readme`,
    bugs: { url: `${address}/issues` },
    repository: { type: "git", url: `git+${address}.git`, directory: folder },
  };
}

/**
 * Replaces each address of the project's repository in a text. The name of the repository, `mcparley`, identifies it; its owner can be
 * any.
 *
 * @param {string} text
 */
export function withAddress(text, address = repository) {
  return text.replaceAll(/https:\/\/github\.com\/[\w.-]+\/mcparley(?![\w-]|\.(?!git\b))/g, address);
}
