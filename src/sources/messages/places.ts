/** Where messages directories are: in the workspaces that the environment names. */
import type { SourcePlaces } from "../types.ts";

export const messagesPlaces: SourcePlaces = {
  agent: "messages",
  label: "Messages directory",
  roots: (around) => (around.env["HANSARD_WORKSPACES"] ?? "").split(":").filter((path) => path !== ""),
};
