/** The page's own looks, around those of what is said: a phone first. */
import { contentStyle } from "../html/index.ts";

export const pageStyle: string = `${contentStyle}
body{min-height:100dvh;display:flex;flex-direction:column}
main{flex:1;width:100%;max-width:52rem;margin:0 auto;padding:0 1rem}
header{width:100%;max-width:52rem;margin:0 auto;padding:1rem 1rem .5rem}
h1{font-size:1.3rem;line-height:1.25;margin:0}
h2{font-size:.8rem;font-weight:600;color:var(--soft);margin:0;text-transform:none}
button,input,textarea{font:inherit;color:inherit}
button{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:.5rem .9rem;min-height:2.75rem;cursor:pointer}
button:disabled{opacity:.6;cursor:default}
input,textarea{background:var(--paper);border:1px solid var(--soft);border-radius:.6rem;padding:.6rem .75rem;min-height:2.75rem;width:100%}
.hidden{position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
[hidden]{display:none!important}
.list{list-style:none;margin:.25rem 0 1rem;padding:0}
.list li{border-top:1px solid var(--line)}
.list a{display:block;padding:.7rem 0;color:inherit;text-decoration:none;min-height:2.75rem}
.list .title{display:block;font-weight:600}
.list .facts{display:block;overflow-wrap:anywhere}
#search{display:flex;gap:.5rem;margin-top:.6rem}
button{flex-shrink:0;white-space:nowrap}
.whole{white-space:normal}
.entry.model .usage{font-size:.75rem}
.sign-in{max-width:26rem;padding-top:12vh}
.sign-in label{font-weight:600}
.sign-in form{display:flex;flex-direction:column;gap:.6rem;margin:1.5rem 0 .5rem}
#code{font-family:ui-monospace,Menlo,Consolas,monospace;letter-spacing:.12em;font-size:1.15rem}
.bar{position:sticky;top:0;z-index:2;background:var(--paper);border-bottom:1px solid var(--line);display:flex;gap:.6rem;align-items:center;padding:.5rem 1rem;padding-top:max(.5rem,env(safe-area-inset-top))}
.bar h1{font-size:1.05rem;display:-webkit-box;-webkit-line-clamp:2;-webkit-box-orient:vertical;overflow:hidden}
.bar p{margin:0;white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
.bar>div{min-width:0}
.back{font-size:1.8rem;line-height:1;text-decoration:none;padding:.35rem .7rem;margin-left:-.7rem}
#older{display:block;margin:.75rem auto}
#log{padding-bottom:4rem}
.turn{border-top:1px solid var(--line);padding:.75rem 0;content-visibility:auto;contain-intrinsic-size:auto 24rem}
.turn:first-child{border-top:0}
.turn:last-child{content-visibility:visible}
.turn h2{display:flex;justify-content:space-between;gap:1rem;scroll-margin-top:5rem}
.entry.left{opacity:.7}
.entry.found{outline:3px solid var(--link);outline-offset:4px;border-radius:.4rem}
.roll>summary{color:var(--soft)}
.whole{margin:.3rem 0;font-size:.875rem}
.streaming .prose::after,.streaming pre.text::after{content:"▍";color:var(--link);animation:blink 1.1s steps(2) infinite}
.streaming>p.note{display:none}
@keyframes blink{50%{opacity:0}}
#jump{position:absolute;right:.75rem;bottom:calc(100% + .4rem);display:flex;gap:.4rem;padding:0;border:0;pointer-events:none}
#jump button{pointer-events:auto;padding:.35rem .7rem;min-height:2.75rem;box-shadow:0 1px 4px rgb(0 0 0/.2)}
#newest{background:var(--you);color:var(--youink);font-weight:600}
footer{position:sticky;bottom:0;z-index:2;width:100%;max-width:52rem;margin:0 auto;background:var(--paper);border-top:1px solid var(--line);padding:.4rem 1rem;padding-bottom:max(.4rem,env(safe-area-inset-bottom))}
footer p{margin:.1rem 0}
#said:empty{display:none}
#standing::before{content:"";display:inline-block;width:.6em;height:.6em;border-radius:50%;background:var(--soft);margin-right:.45em}
#standing[data-is="live"]::before{background:#2e9e4f}
#standing[data-is="away"]::before{background:#c23b22}
#prompt{display:flex;gap:.5rem;align-items:flex-end;margin-top:.3rem}
#text{resize:none;max-height:40vh;field-sizing:content}
#prompt button[type=submit]{background:#0b57d0;border-color:#0b57d0;color:#fff}
.question{border:1px solid var(--line);border-left:4px solid #b35900;border-radius:.5rem;padding:.5rem .75rem;margin:.3rem 0;max-height:50vh;overflow:auto}
.question h3{font-size:.95rem;margin:0 0 .3rem}
.answers{display:flex;flex-wrap:wrap;gap:.5rem;margin-top:.5rem}
.answers .allow{background:#1b6e35;border-color:#1b6e35;color:#fff}
.answers .reject{background:#9b1c1c;border-color:#9b1c1c;color:#fff}
@media (prefers-reduced-motion:reduce){*{animation:none!important;scroll-behavior:auto!important;transition:none!important}}
@media print{.bar,footer,#jump,#older{position:static;display:none}}
`;
