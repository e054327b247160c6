/** How what is said looks, in an export and on the page: in the light, in the dark. */
export const contentStyle: string = `
:root{color-scheme:light dark;--paper:#fff;--ink:#1c1e21;--soft:#5a6069;--line:#d9dde3;--card:#f4f6f8;--you:#e7f0fd;--youink:#123a6d;--bad:#a4161a;--add:#e3f6e8;--addink:#0b5226;--del:#fde8e8;--delink:#8c1414;--link:#0b57d0;--live:#1b6e35}
@media (prefers-color-scheme:dark){:root{--paper:#15171a;--ink:#e4e6ea;--soft:#a0a7b1;--line:#343940;--card:#1e2227;--you:#1a2b42;--youink:#cfe2ff;--bad:#ff9c9c;--add:#12311d;--addink:#9fe3b4;--del:#3a1719;--delink:#ffb3b3;--link:#8ab4f8;--live:#7bd49a}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;overflow-wrap:anywhere}
.facts,.note,.usage,time{color:var(--soft);font-size:.875rem}
a{color:var(--link)}
:focus-visible{outline:2px solid var(--link);outline-offset:2px}
.you,.peer{background:var(--you);color:var(--youink);border-radius:.75rem;padding:.6rem .9rem;margin:.6rem 0}
.you .who,.peer .who{font-size:.8rem;font-weight:600;opacity:.85}
pre{margin:.4rem 0;white-space:pre-wrap;overflow-wrap:anywhere;font:.84rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;tab-size:4}
pre.text{font:inherit}
pre.code,pre.output{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.6rem .75rem;max-height:32rem;overflow:auto}
code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.9em}
p code,li code,td code{background:var(--card);border-radius:.25rem;padding:.05em .3em}
details{margin:.4rem 0;border-left:3px solid var(--line);padding-left:.7rem}
summary{cursor:pointer;padding:.25rem 0;font-size:.92rem}
summary b{font-weight:600}
.bad,.bad summary{color:var(--bad)}
.diff{padding:.4rem 0!important}
.diff span{display:block;padding:0 .75rem;min-height:1.5em}
.diff .add{background:var(--add);color:var(--addink)}
.diff .del{background:var(--del);color:var(--delink)}
.diff .at{color:var(--soft)}
.table{overflow-x:auto}
table{border-collapse:collapse;font-size:.92rem}
th,td{border:1px solid var(--line);padding:.3rem .6rem;text-align:left;vertical-align:top}
blockquote{margin:.5rem 0;padding-left:.8rem;border-left:3px solid var(--line);color:var(--soft)}
.prose>:first-child{margin-top:.3rem}.prose>:last-child{margin-bottom:.3rem}
.prose h3,.prose h4,.prose h5,.prose h6{margin:.9rem 0 .3rem;font-size:1.05rem}
.address{color:var(--soft);font-size:.85em}
.left{opacity:.75}
`;
