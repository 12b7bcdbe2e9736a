// @ts-check

/** @import { Feature, Known, Row } from "./types.ts" */

/** @typedef {Pick<Row, "client" | "server" | "transport" | "revisionKind" | "revision">} Noted */

/** The note that explains why a pairing fails at something, if there is one. @param {readonly Known[]} known @param {Noted} row @param {Feature} feature */
export function noteFor(known, row, feature) {
  return known.find((note) => concerns(note, row) && note.features.includes(feature));
}

/** Returns the outdated notes: the excused features were run and worked. @param {readonly Known[]} known @param {readonly Row[]} rows */
export function staleNotes(known, rows) {
  return known.filter((note) => {
    const cells = rows
      .filter((row) => concerns(note, row))
      .flatMap((row) => note.features.map((one) => row.cells?.[one]));
    return cells.some((cell) => cell !== undefined) && !cells.some((cell) => cell?.state === "known");
  });
}

/** @param {Known} note @param {Noted} row */
function concerns({ side, peer, transports, revisionKinds, revisions }, row) {
  if (revisions && !revisions.includes(row.revision ?? "")) return false;
  return row[side] === peer && transports.includes(row.transport) && revisionKinds.includes(row.revisionKind);
}
