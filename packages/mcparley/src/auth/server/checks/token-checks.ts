/** The code that verifies tokens and proofs, and exchanges tokens. It is loaded as a whole. */
export { exchange } from "./exchange.ts";
export { introspection } from "./introspection.ts";
export { jwtChecks } from "./jwt-checks.ts";
export { proofChecks } from "./proof-checks.ts";
