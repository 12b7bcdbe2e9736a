/** Traces and metrics by OpenTelemetry. Needs `@opentelemetry/api`. */
export { type ClientTelemetryOptions, clientTelemetry } from "./otel/client-telemetry.ts";
export { type ServerTelemetryOptions, serverTelemetry } from "./otel/telemetry.ts";
