import { readFile } from "node:fs/promises";

/**
 * Reads a token from a file, such as the one in which Kubernetes gives a service account its identity: the `assertion` of
 * `workloadIdentity`. The file is read each time, since what is in it is replaced.
 */
export function tokenFile(path: string | URL): () => Promise<string> {
  return async () => (await readFile(path, "utf8")).trim();
}
