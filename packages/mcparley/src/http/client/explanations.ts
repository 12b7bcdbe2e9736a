/* The explanations of failed requests. They are loaded with the first failure: most clients need none of them. */
export { connectionError } from "./connection-error.ts";
export { explanationIn } from "./error-body.ts";
