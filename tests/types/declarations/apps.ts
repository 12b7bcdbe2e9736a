import { app, apps, isFor, readApp, showApps, shownBy, showsApps, uiOf } from "mcparley/apps";

export const extension = apps();
export const clock = app("ui://clock", { html: "<p>12:00</p>" });
export const meta = shownBy({ resourceUri: "ui://clock" });
export const shows = (...given: Parameters<typeof showsApps>) => showsApps(...given);
export const host = (...given: Parameters<typeof showApps>) => showApps(...given);
export const read = (...given: Parameters<typeof readApp>) => readApp(...given);
export const isShown = (...given: Parameters<typeof isFor>) => isFor(...given);
export const ui = (...given: Parameters<typeof uiOf>) => uiOf(...given);
