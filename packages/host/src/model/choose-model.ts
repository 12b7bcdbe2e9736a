import type { ModelPreferences } from "mcparley";
import type { LanguageModel, ModelSetting } from "./language-model.ts";
import { modelName } from "./model-error.ts";

/**
 * Returns the model that a server prefers.
 *
 * The hints are tried in order. A hint matches the first model whose `provider/modelId` contains it, regardless of case. If
 * none matches, the first model is used. The priorities for cost, speed and intelligence are not used: the host does not know
 * these properties of a model, and the specification calls them advisory.
 */
export function chooseModel(setting: ModelSetting, preferences?: ModelPreferences): LanguageModel {
  const models = isList(setting) ? setting : [setting];
  const hints = Array.isArray(preferences?.hints) ? preferences.hints : [];
  for (const hint of hints) {
    const name = typeof hint?.name === "string" ? hint.name.trim().toLowerCase() : "";
    const match = name === "" ? undefined : models.find((model) => modelName(model).toLowerCase().includes(name));
    if (match) return match;
  }
  return models[0];
}

function isList(setting: ModelSetting): setting is readonly [LanguageModel, ...LanguageModel[]] {
  return Array.isArray(setting);
}
