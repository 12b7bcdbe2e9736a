// @ts-check
import path from "node:path";
import { floor, folderOf, own } from "./implementations.mjs";

/** @import { ClientImplementation } from "../types.ts" */

const stateless = /** @type {const} */ (["stateless"]);
const both = /** @type {const} */ (["stateless", "modern"]);

/**
 * The clients that are compared. Those without a library differ in how they send a request, and the floor is the one that uses
 * `node:http`. All others have their own implementation of the protocol: most other clients contain one of the official ones.
 *
 * @type {readonly ClientImplementation[]}
 */
export const clients = [
  { name: floor, isPeer: false, modes: { http: both, stdio: both } },
  { name: own, isPeer: false, modes: { memory: both, http: both, stdio: both } },
  { name: "sdk-v1", isPeer: true, usesFetch: true, modes: { memory: stateless, http: stateless, stdio: stateless } },
  { name: "sdk-v2", isPeer: true, usesFetch: true, modes: { memory: both, http: both, stdio: both } },
  { name: "ai-sdk", isPeer: true, usesFetch: true, modes: { http: both } },
  { name: "fetch", isPeer: false, usesFetch: true, modes: { http: both } },
  { name: "undici-request", isPeer: true, modes: { http: both } },
  { name: "undici-dispatch", isPeer: true, modes: { http: both } },
];

/** Returns the path of a client's module. @param {ClientImplementation} client @param {string} peers the folder of the installed packages */
export function clientOf(client, peers) {
  return path.join(folderOf(client, peers), "client.mjs");
}
