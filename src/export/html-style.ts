/** The one style sheet of an HTML export: for a phone, a desk, the dark and paper. */
import { contentStyle } from "../html/index.ts";

export const htmlStyle: string = `${contentStyle}
header,main,nav,footer{max-width:52rem;margin:0 auto;padding:0 1rem}
header{padding-top:1.25rem}
h1{font-size:1.5rem;line-height:1.25;margin:.25rem 0}
h2{font-size:1rem;margin:0;color:var(--soft);font-weight:600}
.skip{display:inline-block;padding:.4rem 0}
.turn{border-top:1px solid var(--line);padding:1rem 0}
.turn>h2 a{color:inherit;text-decoration:none}
.turn>h2 a:hover{text-decoration:underline}
nav{border-top:1px solid var(--line);padding-top:1rem;padding-bottom:1rem}
nav ol{padding-left:2.2rem;margin:.3rem 0}
nav li{margin:.15rem 0}
footer{padding-bottom:2rem}
@media (max-width:30rem){body{font-size:15px}header,main,nav,footer{padding-left:.75rem;padding-right:.75rem}}
@media print{:root{color-scheme:light}body{font-size:10.5pt}.skip,nav{display:none}.turn{break-inside:auto}.you,.peer,pre.code,pre.output{max-height:none;break-inside:avoid-page;border:1px solid #bbb}h2{break-after:avoid}a{color:inherit}}
`;
