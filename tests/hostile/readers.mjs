// @ts-check
import { commandReaders } from "./command-readers.mjs";
import { contentReaders } from "./content-readers.mjs";
import { hostReaders } from "./host-readers.mjs";
import { httpReaders } from "./http-readers.mjs";
import { rpcReaders } from "./rpc-readers.mjs";
import { schemaReaders } from "./schema-readers.mjs";

/** All functions of the packages that read a text of a peer. */
export const readers = [
  ...schemaReaders,
  ...rpcReaders,
  ...httpReaders,
  ...contentReaders,
  ...hostReaders,
  ...commandReaders,
];
