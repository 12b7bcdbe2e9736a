import { type Cell } from "./dimensions.ts";

/** Cells in which the outcome differs from the expected one. The test fails if one of them does. */
interface Pending {
  /** The names of cells. Each part of a name can list several values, separated by commas. */
  cells: readonly string[];
  observed: string;
  cause: string;
}

export const pending: readonly Pending[] = [];

/** Returns a function that tests whether an entry of `cells` names a cell. */
export function pendingFor(entry: string): (cell: Cell) => boolean {
  const [operation, fault, transport, revision] = entry.split("/").map((values) => values.split(","));
  return (cell) =>
    operation?.includes(cell.operation) === true &&
    fault?.includes(cell.fault) === true &&
    transport?.includes(cell.transport) === true &&
    revision?.includes(cell.revision) === true;
}

/** Conversations in which the client sends other requests than it must. */
export const pendingConversations: readonly { name: string; peers: readonly string[]; cause: string }[] = [];
