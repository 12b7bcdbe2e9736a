/** The exports that `npm run check -- faults` loads. */
export { type Cell, allCells, nameOf, transports } from "./dimensions.ts";
export { differences } from "./expected/compare.ts";
export { expectedOf } from "./expected/rules.ts";
export { renderPage, renderText } from "./page.ts";
export { pending, pendingFor } from "./pending.ts";
export { runCell, runCells } from "./run-cell.ts";
export { renderStatesPage } from "./states/page.ts";
