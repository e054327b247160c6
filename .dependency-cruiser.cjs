// The import directions of docs/architecture.md. A folder may import only what is named here.
const allowed = {
  window: [],
  transcript: [],
  lines: [],
  log: ["lines", "continuity"],
  continuity: [],
  follow: ["transcript"],
  sources: ["lines", "transcript", "log", "sqlite"],
  session: ["sources", "log", "follow", "window", "transcript"],
  terminal: ["window", "transcript", "session"],
  agent: ["log", "session", "follow", "transcript", "continuity"],
  server: ["session", "transcript", "follow"],
  html: ["transcript"],
  web: ["html", "server", "session", "transcript", "follow"],
  export: ["html", "session", "transcript"],
  sqlite: [],
  search: ["sources", "transcript", "sqlite"],
};
const pure = ["window", "transcript", "continuity"];
const rules = [];
for (const [folder, targets] of Object.entries(allowed)) {
  rules.push({
    name: `${folder}-imports`,
    severity: "error",
    comment: `src/${folder} may import only: ${targets.join(", ") || "nothing of ours"}`,
    from: { path: `^src/${folder}/` },
    to: { path: "^src/", pathNot: `^src/(${[folder, ...targets].join("|")})/` },
  });
}
for (const folder of pure) {
  rules.push({
    name: `${folder}-is-pure`,
    severity: "error",
    comment: `src/${folder} imports no package and no Node built-in`,
    from: { path: `^src/${folder}/` },
    to: { pathNot: `^src/${folder}/` },
  });
}
rules.push({
  name: "follow-core-is-pure",
  severity: "error",
  comment: "src/follow outside of node/ imports no package, no Node built-in, and nothing of node/",
  from: { path: "^src/follow/(?!node/)" },
  to: { pathNot: "^src/(follow/(?!node/)|transcript/)" },
});
rules.push({
  name: "no-circular",
  severity: "error",
  from: { path: "^src/" },
  to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
});
rules.push({
  name: "nothing-imports-cli",
  severity: "error",
  from: { pathNot: "^src/cli/" },
  to: { path: "^src/cli/" },
});
module.exports = {
  forbidden: rules,
  options: {
    doNotFollow: { path: "node_modules" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
  },
};
