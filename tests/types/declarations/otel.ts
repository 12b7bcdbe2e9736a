import { telemetry } from "mcparley/otel";

export const observer = telemetry();
