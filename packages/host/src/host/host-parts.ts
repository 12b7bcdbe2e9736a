import type { Clock } from "mcparley";
import type { Root } from "mcparley/client";
import type { CatalogueSource } from "../catalogue/create-catalogue.ts";
import type { Consent } from "../consent/consent.ts";
import type { ContextFor } from "../input/sample-handler.ts";
import type { Watchdog } from "../processes/watchdog.ts";
import type { Renderer } from "../renderer/renderer.ts";
import type { KnownSecrets } from "../secrets/known-secrets.ts";
import type { StateStorage } from "../state/state-storage.ts";
import type { EventBus } from "./event-bus.ts";
import type { HostOptions } from "./host-options.ts";

/** The parts that the servers of a host share. */
export interface HostParts {
  readonly options: HostOptions;
  readonly clock: Clock;
  readonly storage: StateStorage;
  readonly consent: Consent;
  /** Asks the user, without secrets. */
  readonly renderer: Renderer;
  readonly catalogue: CatalogueSource;
  readonly secrets: KnownSecrets;
  readonly watchdog: Watchdog;
  readonly events: EventBus;
  readonly contextFor: ContextFor;
  /** Returns the roots of the host, which can change. */
  readonly roots: () => readonly Root[];
}
