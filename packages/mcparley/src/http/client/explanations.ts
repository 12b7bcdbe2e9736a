/* The explanations of failed requests. They are loaded with the first failure, because most clients need none. */
export { connectionError } from "./connection-error.ts";
export { explanationIn } from "./error-body.ts";
