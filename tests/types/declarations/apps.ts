import { app, apps, isVisibleTo, readApp, appSupport, appMeta, supportsApps, getToolUi } from "mcparley/apps";

export const extension = apps();
export const clock = app("ui://clock", { html: "<p>12:00</p>" });
export const meta = appMeta({ resourceUri: "ui://clock" });
export const shows = (...given: Parameters<typeof supportsApps>) => supportsApps(...given);
export const host = (...given: Parameters<typeof appSupport>) => appSupport(...given);
export const read = (...given: Parameters<typeof readApp>) => readApp(...given);
export const isShown = (...given: Parameters<typeof isVisibleTo>) => isVisibleTo(...given);
export const ui = (...given: Parameters<typeof getToolUi>) => getToolUi(...given);
