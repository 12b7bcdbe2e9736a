/** Traces and metrics with OpenTelemetry. Needs `@opentelemetry/api`. */
export { type TelemetryOptions, telemetry } from "./otel/telemetry.ts";
