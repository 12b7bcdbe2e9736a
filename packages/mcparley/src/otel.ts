/** Traces and metrics with OpenTelemetry. Needs `@opentelemetry/api`. */
export type { ClientObserver } from "./client/options.ts";
export type { ServerObserver } from "./server/core/observer.ts";
export { type TelemetryOptions, telemetry } from "./otel/telemetry.ts";
