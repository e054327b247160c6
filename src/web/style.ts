/** The page's own looks, around those of what is said: a phone first. */
import { contentStyle } from "../html/index.ts";

export const pageStyle: string = `${contentStyle}
body{min-height:100dvh;display:flex;flex-direction:column}
main{flex:1;width:100%;max-width:52rem;margin:0 auto;padding:0 1rem}
header{width:100%;max-width:52rem;margin:0 auto;padding:1rem 1rem .5rem}
h1{font-size:1.4rem;line-height:1.25;margin:0;letter-spacing:-.01em}
h2{font-size:.8rem;font-weight:600;color:var(--soft);margin:0}
button,input,textarea{font:inherit;color:inherit}
button{background:var(--card);border:1px solid var(--line);border-radius:.7rem;padding:.5rem .9rem;min-height:2.75rem;cursor:pointer;flex-shrink:0;white-space:nowrap;touch-action:manipulation}
button:disabled{opacity:.6;cursor:default}
input,textarea{background:var(--card);border:1px solid var(--line);border-radius:.7rem;padding:.6rem .75rem;min-height:2.75rem;width:100%}
::placeholder{color:var(--soft);opacity:1}
button.sign{background:none;border-color:transparent;min-width:2.75rem;padding:.4rem;font-size:1.15rem;line-height:1;color:var(--soft)}
button.sign svg{display:block;margin:auto}
.hidden{position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
[hidden]{display:none!important}
mark{background:#ffe08a;color:#1c1e21;border-radius:.2em;padding:0 .1em}
.row{display:flex;align-items:center;gap:.4rem}
.list{list-style:none;margin:.25rem 0 1rem;padding:0}
.list li+li{border-top:1px solid var(--line)}
.list a{display:block;padding:.8rem 0;color:inherit;text-decoration:none;min-height:2.75rem}
.list a:active{background:var(--card)}
.list .title,.list .excerpt{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:2;overflow:hidden}
.list .excerpt{-webkit-line-clamp:4}
.list .title{font-weight:600;line-height:1.35}
.list .facts{display:flex;gap:.6rem;align-items:baseline;margin-top:.2rem;font-size:.82rem}
.list .facts span{min-width:0;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.list .facts time{margin-left:auto;white-space:nowrap;font-size:inherit}
#sessions .facts span:first-child{flex-shrink:0;color:var(--link);font-weight:600}
#search{display:flex;gap:.5rem;margin-top:.6rem}
#hits>.note{margin:.5rem 0 0}
.bar #hits{max-height:60dvh;overflow-y:auto}
#more{display:block;margin:.5rem auto 2rem}
.whole{white-space:normal;margin:.3rem 0;font-size:.875rem}
.sign-in{max-width:26rem;padding-top:12vh}
.sign-in label{font-weight:600}
.sign-in form{display:flex;flex-direction:column;gap:.6rem;margin:1.5rem 0 .5rem}
#code{font-family:ui-monospace,Menlo,Consolas,monospace;letter-spacing:.12em;font-size:1.15rem}
.bar{position:sticky;top:0;z-index:2;background:var(--paper);border-bottom:1px solid var(--line);padding:.35rem 1rem;padding-top:max(.35rem,env(safe-area-inset-top));max-width:none}
.bar>*{max-width:50rem;margin-inline:auto}
.bar>#search{margin-block:.35rem}
.bar h1{font-size:1rem;letter-spacing:0;white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
.bar p{margin:0;white-space:nowrap;overflow:hidden;text-overflow:ellipsis;font-size:.8rem}
.bar .name{min-width:0;flex:1}
.back{font-size:1.8rem;line-height:1;text-decoration:none;padding:.35rem .7rem;margin-left:-.7rem}
#find{margin-right:-.6rem}
#older{display:block;margin:.75rem auto}
.start{text-align:center}
#log{padding-bottom:1rem}
.turn{padding:.4rem 0 1rem;content-visibility:auto;contain-intrinsic-size:auto 24rem}
.turn:last-child{content-visibility:visible}
.turn+.turn{border-top:1px solid var(--line)}
.turn h2{display:flex;justify-content:space-between;gap:1rem;font-weight:400;font-size:.78rem;margin-top:.3rem}
.turn h2 time{font-size:inherit;margin-left:auto}
.turn .you{margin:.3rem 0 .8rem}
.turn .you .who{font-size:.72rem}
.entry.left{opacity:.7}
.entry.found{outline:3px solid var(--link);outline-offset:-3px;border-radius:.4rem;padding:.4rem .6rem}
article details,article p.note{margin:.15rem 0}
article details{border-left:0;padding-left:0}
article details>:not(summary){margin-left:.75rem}
article summary{padding:.35rem 0;line-height:1.4}
article.step,article details{font-size:.9rem}
summary{list-style:none;display:block;position:relative;padding-left:1.1rem!important}
summary::-webkit-details-marker{display:none}
summary::before{content:"";position:absolute;left:.1rem;top:.85em;width:.42rem;height:.42rem;border:solid var(--soft);border-width:0 .11rem .11rem 0;transform:rotate(-45deg);transition:transform .12s}
details[open]>summary::before{transform:rotate(45deg)}
summary .note{font-size:.8rem}
.step .note b{color:var(--ink)}
.roll{background:var(--card);border:1px solid var(--line);border-radius:.7rem;padding:.1rem .75rem;margin:.5rem 0}
.roll>summary{color:var(--soft);font-size:.88rem;min-height:2.4rem;padding-block:.55rem}
.roll[open]>summary{border-bottom:1px solid var(--line);margin-bottom:.3rem}
.roll pre.output{background:var(--paper)}
.tool-result summary .note{display:none}
.usage{font-size:.74rem!important;margin:.3rem 0 0}
.step .usage,.running .usage,.turn>article.model:not(:last-child) .usage{display:none}
.running>details>summary .note,.clock{color:var(--live)!important}
.clock{font-size:.8rem;font-variant-numeric:tabular-nums;padding-left:1.1rem}
.streaming .clock{padding-left:0}
.streaming .prose::after,.streaming pre.text::after{content:"▍";color:var(--link);animation:blink 1.1s steps(2) infinite}
.streaming>p.note:not(.clock){display:none}
@keyframes blink{50%{opacity:0}}
footer{position:sticky;bottom:0;z-index:2;width:100%;background:var(--paper);border-top:1px solid var(--line);padding:.15rem 1rem;padding-bottom:max(.4rem,env(safe-area-inset-bottom))}
footer>*{max-width:50rem;margin-inline:auto}
footer p{margin:.1rem 0}
#newest{position:absolute;left:50%;bottom:calc(100% + .6rem);transform:translateX(-50%);background:var(--you);color:var(--youink);font-weight:600;border-radius:2rem;padding:.3rem 1.1rem;box-shadow:0 2px 8px rgb(0 0 0/.25)}
#said:empty{display:none}
#standing{flex:1;min-width:0;margin:0 auto 0 0;font-variant-numeric:tabular-nums}
#standing::before{content:"";display:inline-block;width:.6em;height:.6em;border-radius:50%;background:var(--soft);margin-right:.5em}
#standing[data-is="live"]::before{background:#2e9e4f}
#standing[data-is="away"]::before,#standing[data-is="over"]::before{background:#c23b22}
#standing[data-is="quiet"]::before{background:#c98a00}
#jump{display:flex;margin-right:-.6rem}
#plan{border:0;padding:0;margin-block:0;font-size:.85rem}
#plan summary{white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
#plan ol{margin:.2rem 0;padding-left:2.4rem;max-height:30dvh;overflow:auto}
#plan .done{color:var(--soft);text-decoration:line-through}
#plan .at-work{font-weight:600}
#prompt{display:flex;gap:.5rem;align-items:flex-end;margin-block:.1rem .3rem}
#text{resize:none;max-height:40dvh;field-sizing:content}
#prompt button[type=submit],.sign-in button{background:#0b57d0;border-color:#0b57d0;color:#fff}
.question{background:var(--card);border:1px solid var(--line);border-left:4px solid #d07a00;border-radius:.7rem;padding:.6rem .8rem;margin:.5rem 0;max-height:60dvh;display:flex;flex-direction:column}
.question h3{font-size:.95rem;font-weight:400;margin:0 0 .2rem;line-height:1.4;max-height:20dvh;overflow:auto;flex-shrink:0}
.question h3 .note{display:block;font-size:.78rem}
.question .what{overflow:auto;min-height:0}
.question pre.output{background:var(--paper);max-height:none}
.answers{display:flex;flex-wrap:wrap;gap:.5rem;margin-top:.6rem;flex-shrink:0}
.answers button{flex:1 1 auto;white-space:normal;font-weight:600}
.answers .allow-once{background:#1b6e35;border-color:#1b6e35;color:#fff}
.answers .allow-always{border-color:var(--addink);color:var(--addink)}
.answers .reject-once,.answers .reject-always{border-color:var(--bad);color:var(--bad)}
@media (min-width:60rem){body{font-size:15px}.turn{padding-block:.6rem 1.2rem}}
@media (prefers-reduced-motion:reduce){*,*::before,*::after{animation:none!important;scroll-behavior:auto!important;transition:none!important}}
@media print{.bar,footer,#older{position:static;display:none}}
`;
